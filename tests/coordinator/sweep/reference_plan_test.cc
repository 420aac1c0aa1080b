#include "coordinator/sweep/reference_plan.h"

#include <gtest/gtest.h>

#include "tests/coordinator/sweep/trial_bench_fixture.h"

namespace pareto::sweep {
namespace {

class ReferencePlanTest : public TrialBenchTest {
 protected:
  ReferencePlan reference() { return {run_.trials, bench_, clock_of_passes_, kPatience}; }

  static constexpr std::chrono::seconds kPatience{10};
};

TEST_F(ReferencePlanTest, AReferencePlanWhoseDeviceHangsTellsAllTrialsOfIt) {
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

TEST_F(ReferencePlanTest, TheReferencePlanRunsOnOneDeviceOfTheNetworkAtRest) {
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

TEST_F(ReferencePlanTest, TheReferencePlanIsASplitOneIfNoOtherIsThere) {
  for (const std::size_t place : {0, 3, 4}) {
    run_.trials[place].status = results::TrialStatus::kFailed;
  }
  EXPECT_EQ(ReferencePlan(run_.trials, bench_, clock_of_passes_, {}).id(), "cut5");
  for (results::TrialRecord& trial : run_.trials) trial.status = results::TrialStatus::kFailed;
  ReferencePlan none(run_.trials, bench_, clock_of_passes_, {});
  EXPECT_EQ(none.id(), "");
  EXPECT_TRUE(none.read([] {}).plan_ms.empty());
}

TEST_F(ReferencePlanTest, TheFirstTrialOfOneDeviceGoesBeforeSplitOnes) {
  EXPECT_EQ(reference().id(), "all-on:a") << "behind three that are split";
  for (const auto status : {results::TrialStatus::kSkipped, results::TrialStatus::kRefused}) {
    run_.trials[3].status = status;
    EXPECT_EQ(reference().id(), "all-on:b");
  }
}

TEST_F(ReferencePlanTest, ASweepWithoutTrialsHasTheLoopAlone) {
  run_.trials.clear();
  ReferencePlan none = reference();
  ASSERT_TRUE(bench_.prepare());
  const ReferenceReading reading = none.read([] { FAIL() << "there is no plan to time"; });
  EXPECT_TRUE(reading.plan_ms.empty());
  EXPECT_FALSE(reading.loop_ms.empty());
}

TEST_F(ReferencePlanTest, ADeviceWithoutRoomForThePlanIsNotLost) {
  ReferencePlan plan = reference();
  ASSERT_TRUE(bench_.prepare());
  daemons_[0]->fail_loads(Error{ErrorCode::kExhausted, "no room"});
  const ReferenceReading without = plan.read([] {});
  EXPECT_TRUE(without.plan_ms.empty());
  EXPECT_FALSE(without.loop_ms.empty());
  EXPECT_FALSE(bench_.lost().any());
  daemons_[0]->fail_loads(std::nullopt);
  EXPECT_FALSE(plan.read([] {}).plan_ms.empty()) << "it has room now";
}

TEST_F(ReferencePlanTest, ItsTimeIsNoMeasuring) {
  ReferencePlan plan = reference();
  ASSERT_TRUE(bench_.prepare());
  ASSERT_FALSE(plan.read([] {}).plan_ms.empty());
  EXPECT_GT(clock_of_passes_.spent().sentinel_s, 0);
  EXPECT_EQ(clock_of_passes_.spent().measuring_s, 0);
  EXPECT_EQ(clock_of_passes_.spent().requests, 0);
  for (const results::TrialRecord& trial : run_.trials) EXPECT_TRUE(trial.rounds.empty());
}

}  // namespace
}  // namespace pareto::sweep
