#include "client/planning/trial_predictor.h"

#include <gtest/gtest.h>

namespace pareto::client {
namespace {

TrialRecord trial_of(std::size_t stages) {
  TrialRecord trial;
  trial.plan.transport = "tcp";
  for (std::size_t i = 0; i < stages; ++i) trial.plan.stages.push_back({"d", 0, 1});
  return trial;
}

TEST(IsPredictable, PlansOfOneTransportBetweenDevices) {
  EXPECT_TRUE(is_predictable(trial_of(1)));
  EXPECT_TRUE(is_predictable(trial_of(4)));
  TrialRecord mixed = trial_of(3);
  mixed.plan.set_transports({"shm", "tcp", "tcp", "grpc"});
  EXPECT_TRUE(is_predictable(mixed)) << "source and sink may have their own";
  mixed.plan.set_transports({"shm", "tcp", "grpc", "grpc"});
  EXPECT_FALSE(is_predictable(mixed));
}

TEST(IsPredictable, WithoutCodecsAndMicroBatches) {
  TrialRecord trial = trial_of(2);
  trial.codec = "fp16";
  EXPECT_FALSE(is_predictable(trial));
  trial = trial_of(2);
  trial.plan.micro_batch = 2;
  EXPECT_FALSE(is_predictable(trial));
}

}  // namespace
}  // namespace pareto::client
