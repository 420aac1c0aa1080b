// Steps that can be computed by hand.
#include "partitioner/planning/cost/training_step.h"

#include <gtest/gtest.h>

#include "core/plan/training_order.h"

namespace pareto::planning {
namespace {

using std::chrono::milliseconds;

constexpr TrainingStageTimes kAlike{milliseconds(10), milliseconds(20), milliseconds(1)};

/// Returns a pipeline of such stages, whose links take that long for activations and gradients.
TrainingPipelineTimes pipeline(std::size_t stages, milliseconds link = {}) {
  TrainingPipelineTimes times;
  times.stages.assign(stages, kAlike);
  times.links.resize(stages);
  for (std::size_t i = 1; i < stages; ++i) {
    times.links[i].activations.occupancy = link;
    times.links[i].gradients.occupancy = link;
  }
  return times;
}

std::vector<double> whole(std::size_t micro_batches) {
  return std::vector<double>(micro_batches, 1);
}

TEST(TrainingStep, OfOneStageIsTheSumOfItsPasses) {
  for (const std::string& order : plan::training_orders()) {
    EXPECT_EQ(training_step_time(pipeline(1), order, whole(1)), milliseconds(31)) << order;
    EXPECT_EQ(training_step_time(pipeline(1), order, whole(4)), milliseconds(121)) << order;
  }
}

TEST(TrainingStep, OneMicroBatchGoesThereAndBack) {
  // 10 + 3 + 10 + 20 + 3 + 20, then one optimiser after the other.
  EXPECT_EQ(training_step_time(pipeline(2, milliseconds(3)), "1f1b", whole(1)), milliseconds(68));
}

TEST(TrainingStep, MicroBatchesOverlap) {
  // The last stage has (10 + 20) of each, after the first one's forward and before its backward.
  for (const std::string& order : plan::training_orders()) {
    EXPECT_EQ(training_step_time(pipeline(2), order, whole(4)), milliseconds(10 + 120 + 20 + 2))
        << order;
  }
  EXPECT_LT(training_step_time(pipeline(3), "1f1b", whole(6)),
            training_step_time(pipeline(1), "1f1b", whole(18)));
}

TEST(TrainingStep, ASlowLinkIsTheBottleneck) {
  // The last activations come after 10 + 4 * 50. Then the last stage goes forward and backward,
  // and gradients take 50 ms each.
  EXPECT_EQ(training_step_time(pipeline(2, milliseconds(50)), "fill-drain", whole(4)),
            milliseconds(10 + 200 + 30 + 4 * 50 + 20 + 2));
}

TEST(TrainingStep, ALastMicroBatchMayBeSmaller) {
  EXPECT_EQ(training_step_time(pipeline(1), "1f1b", {1, 0.5}), milliseconds(46));
}

TEST(TrainingStep, TheCoordinatorsLinksCount) {
  TrainingPipelineTimes times = pipeline(1);
  times.links[0].activations = {milliseconds(4), milliseconds(2), milliseconds(1), {}};
  times.result.delay = milliseconds(2);
  EXPECT_EQ(training_step_time(times, "1f1b", whole(1)), milliseconds(7 + 31 + 2));
  // The second one is on its way while the first is computed.
  EXPECT_EQ(training_step_time(times, "1f1b", whole(2)), milliseconds(7 + 61 + 2));
}

TEST(TrainingStep, CommandsWaitForTheirTurn) {
  TrainingPipelineTimes times = pipeline(2);
  times.links[1].command.delay = milliseconds(5);
  EXPECT_EQ(training_step_time(times, "1f1b", whole(1)), milliseconds(60 + 1 + 5 + 1));
}

}  // namespace
}  // namespace pareto::planning
