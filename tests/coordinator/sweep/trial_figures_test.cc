#include "coordinator/sweep/trial_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/sweep/trial_meter.h"
#include "tests/coordinator/load/fake_pipeline.h"

namespace pareto::sweep {
namespace {

using testing::SizeIs;

class TrialFiguresTest : public load::FakePipelineTest {
 protected:
  TrialFiguresTest()
      : load::FakePipelineTest({{"a", 0, test::kFakeOperators}, {"b", 0, test::kFakeOperators}}, 0,
                               true) {
    daemons_[0]->set_operator_time(std::chrono::milliseconds(1), {});
    daemons_[1]->set_operator_time(std::chrono::milliseconds(3), {});
  }
};

TEST_F(TrialFiguresTest, AreThoseOfEachReplicaAndOfTheSlowestOnesLatency) {
  TrialMeter meter(/*window=*/3, /*seed=*/1);
  const auto measured =
      meter.measure(*deployment_, Value{Tuple{workload_.example(2, 1).value()}}, 0, true,
                    {.slice = {}, .latency_requests = 11, .all_requests = true});
  ASSERT_TRUE(measured) << measured.error().message;
  results::TrialRecord trial;
  trial.plan = plan_;
  trial.batch = 2;
  trial.rounds = {measured->round};
  summarize(*deployment_, trial);
  EXPECT_EQ(trial.latency.samples, 6);
  EXPECT_EQ(trial.latency.window, 1);
  EXPECT_EQ(trial.throughput.window, 3);
  EXPECT_EQ(trial.throughput.samples, std::ssize(measured->round.intervals_s));
  ASSERT_THAT(trial.stages, SizeIs(2));
  EXPECT_EQ(trial.stages[1].device, "b");
  EXPECT_DOUBLE_EQ(trial.stages[0].compute_p50_ms, 1.0 * test::kFakeOperators);
  EXPECT_DOUBLE_EQ(trial.stages[1].compute_p50_ms, 3.0 * test::kFakeOperators);
  ASSERT_THAT(trial.links, SizeIs(4)) << "to each and back";
  EXPECT_EQ(trial.links[0].bytes, trial.links[2].bytes);
  EXPECT_EQ(trial.links[1].bytes, trial.links[3].bytes);

  // Two rounds count as one list of samples.
  trial.rounds.push_back(measured->round);
  summarize(*deployment_, trial);
  EXPECT_EQ(trial.latency.samples, 12);
  EXPECT_EQ(trial.throughput.samples, 2 * std::ssize(measured->round.intervals_s));
  EXPECT_THAT(trial.stages, SizeIs(2)) << "no figure is added twice";
}

}  // namespace
}  // namespace pareto::sweep
