#include "coordinator/sweep/trial_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/sweep/reference_plan.h"
#include "tests/coordinator/sweep/sweep_runner_fixture.h"

namespace pareto::sweep {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

/// Trials 0 to 2 cut the model between a and b; 3 is all on a, 4 all on b.
class TrialBenchTest : public SweepRunnerTest {
 protected:
  TrialBenchTest()
      : clock_of_passes_(machine_, run_.passes, std::nullopt),
        bench_({workload_, *cluster_, test::sharing(transport_), {}}, options_, run_,
               clock_of_passes_) {}

  static constexpr UnitBudget kLittle{.slice = {}, .latency_requests = 8};

  SteadyClock machine_;
  PassClock clock_of_passes_;
  TrialBench bench_;
};

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

TEST_F(TrialBenchTest, AReferencePlanWhoseDeviceHangsTellsAllTrialsOfIt) {
  run_.trials[3].status = results::TrialStatus::kFailed;
  ReferencePlan reference(run_.trials, bench_, clock_of_passes_, std::chrono::milliseconds(200));
  ASSERT_TRUE(bench_.prepare());
  ASSERT_TRUE(bench_.measure(0, 0, kLittle));
  ASSERT_FALSE(reference.read([] {}).plan_ms.empty());
  daemons_[1]->stop();
  EXPECT_TRUE(reference.read([] {}).plan_ms.empty());
  EXPECT_TRUE(bench_.lost().any());
  for (const std::size_t place : {0, 1, 4}) EXPECT_FALSE(bench_.measure(place, 1, kLittle));
  EXPECT_TRUE(reference.read([] {}).plan_ms.empty());
  EXPECT_EQ(daemons_[1]->calls_waited(), 1);
  EXPECT_LE(daemons_[1]->requests_swallowed(), 1U);
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

TEST_F(TrialBenchTest, TheReferencePlanRunsOnOneDeviceOfTheNetworkAtRest) {
  run_.trials[3].status = results::TrialStatus::kFailed;
  ReferencePlan reference(run_.trials, bench_, clock_of_passes_, std::chrono::seconds(10));
  EXPECT_EQ(reference.id(), "all-on:b");
  ASSERT_TRUE(bench_.prepare());
  int begun = 0;
  const ReferenceReading reading = reference.read([&] { ++begun; });
  EXPECT_FALSE(reading.plan_ms.empty());
  EXPECT_FALSE(reading.loop_ms.empty());
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(network_->applied.back(), "none");
  daemons_[1]->die();
  const ReferenceReading without = reference.read([&] { ++begun; });
  EXPECT_TRUE(without.plan_ms.empty());
  EXPECT_FALSE(without.loop_ms.empty()) << "the loop needs no device";
  network_->refused = "none";
  EXPECT_TRUE(reference.read([&] { ++begun; }).loop_ms.empty()) << "the network is another";
  EXPECT_EQ(begun, 2);
}

TEST_F(TrialBenchTest, TheReferencePlanIsASplitOneIfNoOtherIsThere) {
  for (const std::size_t place : {0, 3, 4}) {
    run_.trials[place].status = results::TrialStatus::kFailed;
  }
  EXPECT_EQ(ReferencePlan(run_.trials, bench_, clock_of_passes_, {}).id(), "cut5");
  for (results::TrialRecord& trial : run_.trials) trial.status = results::TrialStatus::kFailed;
  ReferencePlan none(run_.trials, bench_, clock_of_passes_, {});
  EXPECT_EQ(none.id(), "");
  EXPECT_TRUE(none.read([] {}).plan_ms.empty());
}

}  // namespace
}  // namespace pareto::sweep
