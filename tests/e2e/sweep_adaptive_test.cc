// Sweeps that predict, and measure what may be on the front.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/e2e/fixture.h"
#include "tests/e2e/sweep_fixture.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

TEST_F(Sweep, AnAdaptiveOneMeasuresWhatMayBeOnTheFrontAndGoesOnWhereItStopped) {
  Daemon first("first", folder());
  Daemon second("second", folder());
  const auto devices = inventory({{"first", first.address()}, {"second", second.address()}});
  auto arguments = small_sweep({"--devices", devices, "--splits",
                                "after:features.3,after:features.6,after:features.9", "--transport",
                                "tcp", "--adaptive", "--budget", "8s"});
  arguments.insert(arguments.begin(), "paretoctl");
  Process sweep(arguments);
  // Both devices are profiled first.
  ASSERT_TRUE(sweep.wait_for_output("plans measured", std::chrono::minutes(4))) << sweep.errors();
  sweep.signal(SIGKILL);
  sweep.wait();
  const auto killed = paretoctl({"front", "--store", path("results.db"), "--json", "last"});
  expect_honest(json::parse(killed.output));
  const auto resumed =
      paretoctl({"sweep", "--store", path("results.db"), "--resume", "last", "--json"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
  const json run = json::parse(resumed.output);
  std::size_t measured = 0;
  for (const json& trial : run["trials"]) {
    ASSERT_TRUE(trial.contains("predicted")) << trial["id"];
    EXPECT_GT(trial["predicted"]["latency_ms"], 0);
    EXPECT_GT(trial["predicted"]["expected_samples_per_s"], 0);
    if (trial["status"] == "ok")
      ++measured;
    else
      EXPECT_EQ(trial["status"], "predicted");
  }
  EXPECT_GT(measured, 0U);
  for (const json& device : run["devices"]) {
    EXPECT_GT(device["weights_sent_bytes"], 0) << "profiles sent them, before the first plan";
  }
  expect_honest(run);
  EXPECT_FALSE(run["front"].empty());
  EXPECT_TRUE(run["options"]["sweep"]["adaptive"].get<bool>());
  EXPECT_THAT(run["note"].get<std::string>(), HasSubstr("The sweep is adaptive"));
  const auto longer = paretoctl(
      {"sweep", "--store", path("results.db"), "--resume", "last", "--budget", "10s", "--json"});
  ASSERT_EQ(longer.exit_code, 0) << longer.errors;
  EXPECT_THAT(json::parse(longer.output)["note"].get<std::string>(), HasSubstr("10 s in all"));
  EXPECT_EQ(json::parse(longer.output)["options"]["sweep"]["budget_s"], 10)
      << "what was said anew is kept";
  expect_honest(json::parse(longer.output));
  const auto front = paretoctl({"front", "--store", path("results.db"), "--json", "last"});
  expect_same_figures(json::parse(front.output), json::parse(longer.output));
}

TEST_F(Sweep, WhatIsMeasuredCanBePredictedFirst) {
  const auto sweep = paretoctl(
      small_sweep({"--splits", "percent:30,percent:60", "--transport", "tcp", "--batch", "1,4",
                   "--micro-batch", "none,2", "--rounds", "1", "--predict", "--json"}));
  ASSERT_EQ(sweep.exit_code, 0) << sweep.errors;
  const json run = json::parse(sweep.output);
  for (const json& trial : run["trials"]) {
    EXPECT_EQ(trial["status"], "ok") << trial["id"];
    EXPECT_TRUE(trial.contains("predicted")) << trial["id"];
  }
  std::size_t compared = 0;
  for (const json& error : run["prediction_errors"]) compared += error["trials"].get<std::size_t>();
  EXPECT_EQ(compared, run["trials"].size());
  EXPECT_THAT(paretoctl({"front", "--store", path("results.db"), "last"}).output,
              HasSubstr("Predictions against what was measured"));
}

TEST_F(Sweep, SettingsAreADimensionThatIsPredictedToo) {
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--splits", "after:features.3", "--transport", "tcp", "--engine",
                             "plain", "--threads", "1,2"});
    return small_sweep(more);
  };
  const auto dry = paretoctl(with({"--schedule", "sequential,clusters", "--dry-run"}));
  ASSERT_EQ(dry.exit_code, 0) << dry.errors;
  EXPECT_THAT(dry.errors, HasSubstr("12 plans"));
  EXPECT_THAT(dry.output, testing::ContainsRegex("boundary +threads +schedule"));
  EXPECT_THAT(dry.output, testing::ContainsRegex("local-0 > local-1 +tcp .* 2 +clusters"));
  const auto sweep = paretoctl(with({"--rounds", "1", "--predict", "--json"}));
  ASSERT_EQ(sweep.exit_code, 0) << sweep.errors;
  const json run = json::parse(sweep.output);
  ASSERT_EQ(run["trials"].size(), 3 * 2U);
  for (const json& trial : run["trials"]) {
    const std::string id = trial["id"];
    EXPECT_EQ(trial["status"], "ok") << id;
    EXPECT_TRUE(trial.contains("predicted")) << id;
    EXPECT_THAT(id, HasSubstr("/threads:" + trial["threads"].get<std::string>()));
    EXPECT_FALSE(trial.contains("schedule")) << "all have the same";
    EXPECT_EQ(trial["threads"], std::to_string(trial["plan"]["threads"].get<int>()));
  }
  expect_honest(run);
  const auto front = paretoctl({"front", "--store", path("results.db"), "last"});
  EXPECT_THAT(front.output, testing::ContainsRegex("transport +threads +p50 ms"));
}

TEST_F(Sweep, ManyPlansAreSweptAdaptivelyUnlessToldOtherwise) {
  const auto dry = [&](std::vector<std::string> more) {
    more.emplace_back("--dry-run");
    return paretoctl(small_sweep(more)).errors;
  };
  const auto all = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--splits", "all", "--transport", "tcp,grpc"});
    return dry(std::move(more));
  };
  EXPECT_THAT(all({}), HasSubstr("adaptive: "));
  EXPECT_THAT(all({"--exhaustive"}), Not(HasSubstr("adaptive")));
  EXPECT_THAT(all({"--budget", "soon"}), HasSubstr("--budget"));
  EXPECT_THAT(dry({"--splits", "percent:50"}), Not(HasSubstr("adaptive")));
  EXPECT_THAT(dry({"--splits", "percent:50", "--budget", "30s"}),
              testing::AllOf(HasSubstr("adaptive: "), HasSubstr("for 30 s at most")));
}

}  // namespace
}  // namespace pareto::test
