#include "client/report/network_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "core/base/text.h"
#include "tests/support/synthetic_run.h"

namespace pareto::report {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// Returns two conditions, two splits and two devices; the figures are plain.
results::RunRecord small_run(const std::vector<std::string>& transports) {
  results::RunRecord run =
      test::synthetic_run({.transports = transports,
                           .batches = {1},
                           .split_points = 2,
                           .with_failure = false,
                           .networks = {{"slow", 52, 9.89}, {"none", 0.08, 1870}}});
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    run.trials[i].latency.p50_ms = 10 + static_cast<double>(i);
    run.trials[i].throughput.samples_per_s = 100 + static_cast<double>(i);
  }
  run.trials[0].network->backward_mbit_per_s = 39.9;
  return run;
}

TEST(NetworkTable, IsThereForSeveralNetworksOnly) {
  EXPECT_THAT(write_network_table(test::synthetic_run(), {}), IsEmpty());
  EXPECT_THAT(write_network_table(results::RunRecord{}, {}), IsEmpty());
}

TEST(NetworkTable, NamesTheBestSplitOfEach) {
  EXPECT_EQ(write_network_table(small_run({"tcp"}), {}),
            "Best split by network, batch 1\n"
            "network  RTT ms       Mbit/s  lowest latency    p50 ms  unsplit ms  highest throughput"
            "  samples/s  unsplit /s\n"
            "none      0.080         1870  after:features.0   14.00       16.00  after:features.1  "
            "      105.0       107.0\n"
            "slow      52.00  9.89 / 39.9  after:features.0   10.00       12.00  after:features.1  "
            "      101.0       103.0\n"
            "\n");
  EXPECT_THAT(write_network_table(small_run({"tcp", "grpc"}), {}),
              HasSubstr("after:features.0, tcp"));
}

TEST(NetworkTable, SaysWhereNothingWasMeasured) {
  results::RunRecord run = small_run({"tcp"});
  for (results::TrialRecord& trial : run.trials) {
    trial.latency = {};
    if (trial.condition == "slow") trial.status = results::TrialStatus::kFailed;
  }
  std::string text = write_network_table(run, {});
  EXPECT_THAT(text, HasSubstr("all 4 plans failed"));
  EXPECT_THAT(text, HasSubstr("not measured"));
  run.trials[0].status = results::TrialStatus::kOk;
  text = write_network_table(run, {.colour = true});
  EXPECT_THAT(text, HasSubstr("3 of 4 plans failed"));
  EXPECT_THAT(text, HasSubstr("\x1b[31m"));
  for (results::TrialRecord& trial : run.trials) {
    if (trial.condition == "slow") trial.status = results::TrialStatus::kSkipped;
  }
  EXPECT_THAT(write_network_table(run, {}), HasSubstr("4 of 4 plans skipped"));
}

TEST(NetworkTable, FitsTheTerminal) {
  const results::RunRecord run = test::synthetic_network_sweep();
  for (const int width : {60, 80, 120}) {
    std::istringstream text(write_network_table(run, {false, width}));
    for (std::string line; std::getline(text, line);) {
      EXPECT_LE(display_width(line), static_cast<std::size_t>(width)) << line;
    }
  }
  const std::string narrow = write_network_table(run, {false, 60});
  EXPECT_THAT(narrow, HasSubstr("lowest latency"));
  EXPECT_THAT(narrow, HasSubstr("unsplit ms\n"));
  EXPECT_THAT(narrow, HasSubstr("no room for: RTT ms, Mbit/s, highest throughput, samples/s,"));
}

TEST(NetworkTable, WhatASplitIsComparedWithGoesLast) {
  const std::string text = write_network_table(small_run({"tcp"}), {false, 100});
  EXPECT_THAT(text,
              HasSubstr("no room for: RTT ms, Mbit/s (widen the terminal, or add | less -S)\n"));
  EXPECT_THAT(text, HasSubstr("unsplit ms"));
  EXPECT_THAT(text, HasSubstr("unsplit /s"));
}

TEST(NetworkTable, SaysWhereOneDeviceAloneIsBetter) {
  results::RunRecord run = small_run({"tcp"});
  EXPECT_THAT(write_network_table(run, {}), testing::Not(HasSubstr("alone is better")));
  const auto halve = [&](const std::string& network) {
    for (results::TrialRecord& trial : run.trials) {
      if (trial.split || trial.condition != network) continue;
      trial.latency.p50_ms = 5;
      trial.throughput.samples_per_s = 1000;
    }
  };
  halve("slow");
  EXPECT_THAT(write_network_table(run, {}),
              HasSubstr("\nOne device alone is better than any split under slow.\n\n"));
  halve("none");
  EXPECT_THAT(write_network_table(run, {}),
              HasSubstr("\nOne device alone is better than any split under every network.\n\n"));
}

}  // namespace
}  // namespace pareto::report
