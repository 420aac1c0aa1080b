// What the store keeps of a trial next to its columns, as one text.
#include "coordinator/results/stored_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/synthetic_run.h"

namespace pareto::results {
namespace {

TEST(Details, OfBeforePlansHadSeveralCutsHoldTheOne) {
  const RunRecord run = test::synthetic_run();
  TrialRecord trial = run.trials[0];
  auto details = nlohmann::ordered_json::parse(details_to_json(trial));
  const auto cut = details["cuts"][0];
  details.erase("cuts");
  details["boundary"] = cut["boundary"];
  // Its columns are read first.
  const auto columns = [&] {
    TrialRecord read;
    read.split.emplace();
    read.split->name = trial.split->name;
    read.split->position = trial.split->position;
    read.split->boundary_bytes = trial.split->boundary_bytes;
    return read;
  };
  trial = columns();
  ASSERT_TRUE(details_from_json(details.dump(), trial));
  EXPECT_EQ(trial.split->cuts, run.trials[0].split->cuts);
  EXPECT_EQ(trial.split->boundary, run.trials[0].split->boundary);
  // Another number of cuts or links than the plan has.
  const auto refused = [&](const char* key, const nlohmann::ordered_json& value) {
    auto changed = details;
    changed[key] = value;
    TrialRecord read = columns();
    return details_from_json(changed.dump(), read).error().code == ErrorCode::kCorrupt;
  };
  EXPECT_TRUE(refused("cuts", {cut, cut}));
  EXPECT_TRUE(refused("cuts", "many"));
  EXPECT_TRUE(refused("links", {details["links"][0]}));
}

TEST(Details, SayByTheirSamplesWhichLatencyTheTwentiethRequestExceeds) {
  TrialRecord trial = test::synthetic_run().trials[0];
  trial.rounds.resize(2);
  trial.rounds[0].latency_ms = {21, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  trial.rounds[1].latency_ms = {11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
  TrialRecord read;
  read.split = trial.split;
  ASSERT_TRUE(details_from_json(details_to_json(trial), read));
  EXPECT_DOUBLE_EQ(read.latency.p95_ms, 20);
}

TEST(Details, KeepAccuracyAndRefuseWhatCannotBe) {
  TrialRecord trial = test::synthetic_run().trials[0];
  TrialRecord without;
  without.split = trial.split;
  ASSERT_TRUE(details_from_json(details_to_json(trial), without));
  EXPECT_FALSE(without.accuracy);
  trial.accuracy = AccuracyFigures{200, 150, 196, 152, false};
  TrialRecord read;
  read.split = trial.split;
  ASSERT_TRUE(details_from_json(details_to_json(trial), read));
  ASSERT_TRUE(read.accuracy);
  EXPECT_EQ(read.accuracy->samples, 200);
  EXPECT_EQ(read.accuracy->right, 150);
  EXPECT_EQ(read.accuracy->agreeing, 196);
  EXPECT_EQ(read.accuracy->uncut_right, 152);
  EXPECT_FALSE(read.accuracy->was_run);
  EXPECT_DOUBLE_EQ(read.accuracy->top1(), 0.75);
  for (const AccuracyFigures& wrong :
       {AccuracyFigures{0, 0, 0, 0}, AccuracyFigures{5, 6, 0, 0}, AccuracyFigures{5, 5, 5, -1}}) {
    trial.accuracy = wrong;
    TrialRecord refused;
    refused.split = trial.split;
    auto text = nlohmann::ordered_json::parse(details_to_json(trial));
    EXPECT_EQ(details_from_json(text.dump(), refused).error().code, ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace pareto::results
