#include "coordinator/results/best_by_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace pareto::results {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TrialRecord trial(const std::string& id, const std::string& condition, double ms, double per_s,
                  bool split = true) {
  TrialRecord record;
  record.id = id;
  record.condition = condition;
  if (split) record.split.emplace().name = id;
  record.latency.p50_ms = ms;
  record.latency.samples = 12;
  record.throughput.samples_per_s = per_s;
  return record;
}

NetworkFigures network(double round_trip_ms, double mbit_per_s) {
  return {round_trip_ms, 0, mbit_per_s, mbit_per_s, 0, 0};
}

std::vector<std::string> conditions_of(const std::vector<NetworkBest>& networks) {
  std::vector<std::string> names;
  for (const NetworkBest& at : networks) names.push_back(at.condition);
  return names;
}

TEST(BestByNetwork, FindsTheBestOfEveryPlanOfTheSplitsAndOfTheOthers) {
  RunRecord run;
  run.trials = {trial("early", "none", 9, 200), trial("late", "none", 8, 150),
                trial("whole", "none", 7, 100, false), trial("other", "none", 12, 120, false)};
  const auto networks = best_by_network(run);
  ASSERT_EQ(networks.size(), 1U);
  const NetworkBest& at = networks[0];
  EXPECT_EQ(at.trials, 4U);
  EXPECT_EQ(at.measured, 4U);
  EXPECT_EQ(at.failed, 0U);
  EXPECT_FALSE(at.network);
  EXPECT_EQ(at.best.fastest->id, "whole");
  EXPECT_EQ(at.best.most_productive->id, "early");
  EXPECT_EQ(at.split.fastest->id, "late");
  EXPECT_EQ(at.split.most_productive->id, "early");
  EXPECT_EQ(at.unsplit.fastest->id, "whole");
  EXPECT_EQ(at.unsplit.most_productive->id, "other");
}

TEST(BestByNetwork, OfEqualsTakesTheOneBetterInTheOtherFigureThenTheEarlier) {
  RunRecord run;
  run.trials = {trial("a", "none", 8, 100), trial("b", "none", 8, 120), trial("c", "none", 8, 120),
                trial("d", "none", 7, 90), trial("e", "none", 6.5, 90)};
  run.trials.push_back(trial("f", "none", 9, 120));
  const auto networks = best_by_network(run);
  EXPECT_EQ(networks[0].best.fastest->id, "e");
  EXPECT_EQ(networks[0].best.most_productive->id, "b");
  run.trials.resize(3);
  EXPECT_EQ(best_by_network(run)[0].best.fastest->id, "b");
}

TEST(BestByNetwork, OrdersNetworksFromTheBestToTheWorst) {
  RunRecord run;
  run.trials = {trial("1", "unreached", 1, 1), trial("2", "slow", 1, 1), trial("3", "far", 1, 1),
                trial("4", "near", 1, 1),      trial("5", "fast", 1, 1), trial("6", "none", 1, 1)};
  run.trials[1].network = network(4, 9.9);
  run.trials[2].network = network(60, 100.2);  // of one rate, as nearly as it can be measured
  run.trials[3].network = network(4, 99.1);
  run.trials[4].network = network(80, 940);
  run.trials[5].network = network(0.1, 900);  // what the machine reached is no limit
  EXPECT_THAT(conditions_of(best_by_network(run)),
              ElementsAre("none", "fast", "near", "far", "slow", "unreached"));
}

TEST(BestByNetwork, KeepsBatchesApartAndEachInTheOrderOfTheWholeRun) {
  RunRecord run;
  for (const std::int64_t batch : {8, 1}) {
    for (const char* condition : {"slow", "none"}) {
      run.trials.push_back(trial("plan", condition, 5, 5));
      run.trials.back().batch = batch;
    }
  }
  // Only one of the trials knows the network: a trial that was never begun does not.
  run.trials[2].network = network(50, 10);
  const auto networks = best_by_network(run);
  EXPECT_THAT(conditions_of(networks), ElementsAre("none", "slow", "none", "slow"));
  EXPECT_EQ(networks[0].batch, 1);
  EXPECT_EQ(networks[3].batch, 8);
  ASSERT_TRUE(networks[3].network);
  EXPECT_EQ(networks[3].network->round_trip_ms, 50);
}

TEST(BestByNetwork, CountsWhatFailedAndTakesNothingOfIt) {
  RunRecord run;
  EXPECT_THAT(best_by_network(run), IsEmpty());
  run.trials = {trial("failed", "slow", 1, 1000), trial("planned", "slow", 1, 1000),
                trial("ok", "slow", 5, 5), trial("lost", "worse", 1, 1000),
                trial("skipped", "worse", 1, 1000)};
  run.trials[0].status = TrialStatus::kFailed;
  run.trials[1].latency.samples = 0;
  run.trials[3].status = TrialStatus::kFailed;
  run.trials[4].status = TrialStatus::kSkipped;
  const auto networks = best_by_network(run);
  ASSERT_EQ(networks.size(), 2U);
  EXPECT_EQ(networks[0].trials, 3U);
  EXPECT_EQ(networks[0].measured, 1U);
  EXPECT_EQ(networks[0].failed, 1U);
  EXPECT_EQ(networks[0].skipped, 0U);
  EXPECT_EQ(networks[0].best.fastest->id, "ok");
  EXPECT_EQ(networks[0].unsplit.fastest, nullptr);
  EXPECT_EQ(networks[1].failed, 1U);
  EXPECT_EQ(networks[1].skipped, 1U);
  EXPECT_EQ(networks[1].best.fastest, nullptr);
}

}  // namespace
}  // namespace pareto::results
