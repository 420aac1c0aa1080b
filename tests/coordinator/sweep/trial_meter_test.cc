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
  EXPECT_THAT(fitting->round.latency_ms, SizeIs(kFewestRequests));
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
                 {.slice = {}, .latency_requests = kFewestRequests})
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

  results::TrialRecord trial;
  trial.plan = plan_;
  trial.batch = 2;
  trial.rounds = {round};
  summarize(*deployment_, trial);
  EXPECT_EQ(trial.latency.samples, 6);
  ASSERT_THAT(trial.stages, SizeIs(2));
  EXPECT_DOUBLE_EQ(trial.stages[0].compute_p50_ms, 1.0 * test::kFakeOperators);
  EXPECT_DOUBLE_EQ(trial.stages[1].compute_p50_ms, 3.0 * test::kFakeOperators);
  ASSERT_THAT(trial.links, SizeIs(4)) << "to each and back";
  EXPECT_EQ(trial.links[0].bytes, trial.links[2].bytes);
  EXPECT_EQ(trial.links[1].bytes, trial.links[3].bytes);
}

load::RequestSample taking(std::chrono::milliseconds latency) {
  load::RequestSample sample;
  sample.completed = sample.sent + latency;
  return sample;
}

TEST(RunsDiffer, IsARunThatTookATenthLonger) {
  EXPECT_FALSE(runs_differ(std::vector<double>{1, 2, 2, 1, 1.5, 1.7}, 2));
  EXPECT_TRUE(runs_differ(std::vector<double>{1, 2, 2, 1, 1.5, 1.9}, 2));
  EXPECT_TRUE(runs_differ(std::vector<double>{0.8, 1.8, 2, 1, 1.5, 1.5}, 2));
  // What is left over is no run.
  EXPECT_FALSE(runs_differ(std::vector<double>{1, 2, 2, 1, 9}, 2));
  EXPECT_FALSE(runs_differ(std::vector<double>{}, 2));
}

TEST(HasPause, IsARequestThatTookMuchLongerThanMost) {
  using std::chrono_literals::operator""ms;
  std::vector<load::RequestSample> samples(11, taking(90ms));
  samples.push_back(taking(139ms));
  EXPECT_FALSE(has_pause(samples)) << "jitter";
  samples.push_back(taking(950ms));
  EXPECT_TRUE(has_pause(samples));
  std::vector<load::RequestSample> slow(11, taking(240ms));
  slow.push_back(taking(355ms));
  EXPECT_FALSE(has_pause(slow)) << "not half as long again";
  EXPECT_FALSE(has_pause({}));
  // A slow replica is no pause of a quick one.
  std::vector<load::RequestSample> turns;
  for (int i = 0; i < 6; ++i)
    turns.insert(turns.end(), {taking(90ms), taking(90ms), taking(200ms)});
  EXPECT_TRUE(has_pause(turns));
  EXPECT_FALSE(has_pause(turns, 3));
}

}  // namespace
}  // namespace pareto::sweep
