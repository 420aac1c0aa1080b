#include "coordinator/sweep/trial_meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/coordinator/load/fake_pipeline.h"

namespace pareto::sweep {
namespace {

using testing::Each;
using testing::Gt;
using testing::SizeIs;

class TrialMeterTest : public load::FakePipelineTest {
 protected:
  TrialMeterTest() : load::FakePipelineTest({{"a", 0, 3}, {"b", 3, test::kFakeOperators}}) {}

  Expected<MeasuredRound> measure(const UnitBudget& budget) {
    TrialMeter meter(/*window=*/2, /*seed=*/1);
    return meter.measure(*deployment_, Value{Tuple{workload_.example(2, 1).value()}}, 0, true,
                         budget);
  }
};

TEST_F(TrialMeterTest, MeasuresFewerRequestsWhereTheyDoNotFitUnlessAllAreAskedFor) {
  UnitBudget budget{.slice = {}, .latency_requests = 40};
  const auto fitting = measure(budget);
  ASSERT_TRUE(fitting) << fitting.error().message;
  EXPECT_THAT(fitting->round.latency_ms, SizeIs(kMeasuringRules.latency.fewest_requests));
  budget.all_requests = true;
  const auto all = measure(budget);
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_THAT(all->round.latency_ms, SizeIs(40));
  EXPECT_THAT(all->round.latency_ms, Each(Gt(0)));
  for (const results::StageSamples& stage : all->round.stages)
    EXPECT_THAT(stage.compute_ms, SizeIs(40));
  EXPECT_EQ(test::sum_of(all->output), test::sum_of(fitting->output));
}

TEST_F(TrialMeterTest, AForeseenWindowIsNotSearched) {
  const auto measured_with = [&](int foreseen) {
    TrialMeter meter(/*window=*/0, /*seed=*/1);
    meter.foresee_window(foreseen);
    return meter
        .measure(*deployment_, Value{Tuple{workload_.example(2, 1).value()}}, 0, true,
                 {.slice = {}, .latency_requests = kMeasuringRules.latency.fewest_requests})
        .value();
  };
  for (test::FakeDaemon* daemon : daemons_) daemon->set_operator_time(std::chrono::seconds(1), {});
  EXPECT_EQ(measured_with(5).round.window, 5) << "one alone would do, by what stages say";
  for (test::FakeDaemon* daemon : daemons_) daemon->set_operator_time(Nanoseconds(1), {});
  EXPECT_GT(measured_with(5).round.window, 5) << "more than was foreseen";
}

class ReplicasTest : public load::FakePipelineTest {
 protected:
  ReplicasTest()
      : load::FakePipelineTest({{"a", 0, test::kFakeOperators}, {"b", 0, test::kFakeOperators}}, 0,
                               true) {}
};

TEST_F(ReplicasTest, HaveEachATurnsRequest) {
  daemons_[0]->set_operator_time(std::chrono::milliseconds(1), {});
  daemons_[1]->set_operator_time(std::chrono::milliseconds(3), {});
  TrialMeter meter(/*window=*/3, /*seed=*/1);
  const auto measured =
      meter.measure(*deployment_, Value{Tuple{workload_.example(2, 1).value()}}, 0, true,
                    {.slice = {}, .latency_requests = 11, .all_requests = true});
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_DOUBLE_EQ(test::sum_of(measured->output), 8.0 * test::kFakeOperators);
  const results::TrialRound& round = measured->round;
  EXPECT_THAT(round.latency_ms, SizeIs(6)) << "turns";
  EXPECT_THAT(round.sink_receive_ms, SizeIs(12)) << "requests";
  EXPECT_EQ(round.intervals_s.size() % 6, 0U) << "whole windows of whole turns";
  ASSERT_THAT(round.stages, SizeIs(2));
  for (const results::StageSamples& stage : round.stages) EXPECT_THAT(stage.compute_ms, SizeIs(6));
}

}  // namespace
}  // namespace pareto::sweep
