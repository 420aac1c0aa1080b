#include "coordinator/sweep/trial_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/coordinator/sweep/trial_bench_fixture.h"

namespace pareto::sweep {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

TEST_F(TrialBenchTest, MeasuresARoundInPlaceOfTheOld) {
  ASSERT_TRUE(bench_.prepare());
  results::TrialRecord& trial = run_.trials[0];
  for (int time = 0; time < 2; ++time) {
    const auto measured = bench_.measure(0, 4, kLittle);
    ASSERT_TRUE(measured) << measured.error().message;
    ASSERT_THAT(trial.rounds, SizeIs(1));
  }
  EXPECT_EQ(trial.rounds[0].round, 4);
  EXPECT_GE(trial.latency.samples, 8);
  EXPECT_THAT(trial.stages, SizeIs(2));
  EXPECT_THAT(clock_of_passes_.spent().openings_ms, SizeIs(1)) << "its pipeline stays open";
  EXPECT_GT(clock_of_passes_.spent().requests, 16);
}

TEST_F(TrialBenchTest, ALoadingIsCountedWhereShardsAreOthers) {
  ASSERT_TRUE(bench_.prepare());
  results::TrialRecord& trial = run_.trials[3];
  results::TrialRound yesterday;
  yesterday.loading = 6;
  yesterday.stages.resize(1);
  trial.rounds.push_back(yesterday);
  ASSERT_TRUE(bench_.measure(3, 1, kLittle));
  ASSERT_TRUE(bench_.measure(3, 2, kLittle));
  ASSERT_THAT(trial.rounds, SizeIs(3));
  EXPECT_EQ(trial.rounds[1].loading, 7);
  EXPECT_EQ(trial.rounds[2].loading, 7);
}

TEST_F(TrialBenchTest, TheLostDeviceIsNamedAndItsTrialsFailAtOnce) {
  ASSERT_TRUE(bench_.prepare());
  daemons_[1]->die();
  const auto first = bench_.measure(0, 0, kLittle);
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(first.error().message,
              testing::AllOf(StartsWith("a device was lost: "), HasSubstr("; seen as: ")));
  EXPECT_TRUE(bench_.lost().any());
  network_->applied.clear();
  const auto next = bench_.measure(4, 0, kLittle);
  ASSERT_FALSE(next);
  EXPECT_THAT(next.error().message, StartsWith("a device was lost: "));
  EXPECT_TRUE(network_->applied.empty()) << "nothing is tried";
  EXPECT_TRUE(bench_.measure(3, 0, kLittle));
}

TEST_F(TrialBenchTest, ARefusedConditionIsSaidSo) {
  ASSERT_TRUE(bench_.prepare());
  run_.trials[0].condition = "unreachable";
  ASSERT_FALSE(bench_.measure(0, 0, kLittle));
  EXPECT_TRUE(bench_.conditions().is_refused("unreachable"));
  EXPECT_TRUE(run_.trials[0].rounds.empty());
  EXPECT_FALSE(bench_.lost().any());
}

TEST_F(TrialBenchTest, PreloadsEachShardOnce) {
  const std::atomic<bool> stop{false};
  std::vector<std::size_t> totals;
  bench_.preload({0, 3}, stop, [&](std::size_t, std::size_t total) { totals.push_back(total); });
  EXPECT_EQ(daemons_[0]->loads(), 2);
  EXPECT_EQ(daemons_[1]->loads(), 1);
  EXPECT_THAT(totals, testing::Each(3U));
  ASSERT_TRUE(bench_.prepare());
  ASSERT_TRUE(bench_.measure(0, 0, kLittle));
  EXPECT_EQ(daemons_[0]->loads() + daemons_[1]->loads(), 3);
}

}  // namespace
}  // namespace pareto::sweep
