#include "client/planning/trial_predictor.h"

#include <gtest/gtest.h>

namespace pareto::client {
namespace {

using std::chrono::milliseconds;

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

TEST(LacksPrediction, WhatWasPredictedMeasuredOrHasNoRoomDoesNot) {
  EXPECT_TRUE(lacks_prediction(trial_of(2)));
  TrialRecord trial = trial_of(2);
  trial.status = TrialStatus::kSkipped;
  EXPECT_TRUE(lacks_prediction(trial)) << "its network may be had now";
  trial.prediction = Prediction{};
  EXPECT_FALSE(lacks_prediction(trial));
  trial = trial_of(2);
  trial.rounds.emplace_back();
  EXPECT_FALSE(lacks_prediction(trial));
  trial = trial_of(2);
  trial.no_room = true;
  EXPECT_FALSE(lacks_prediction(trial));
  trial = trial_of(2);
  trial.codec = "fp16";
  EXPECT_FALSE(lacks_prediction(trial)) << "there can be none";
}

TEST(KeepOwn, ALinkIsAsItsOwnTransportIs) {
  transport::ProbeResult measured;
  measured.points.resize(2);
  // One device and the coordinator, both ways probed over either.
  const ProbedLinks both{{{}, measured}, {measured, {}}};
  std::vector<ProbedTransport> probed{{"shm", both}, {"tcp", both}};
  keep_own(probed, {{{}, {"tcp"}}, {{"shm"}, {}}});
  EXPECT_EQ(probed[0].links[1][0].points.size(), 2U) << "from the source";
  EXPECT_TRUE(probed[0].links[0][1].points.empty());
  EXPECT_TRUE(probed[1].links[1][0].points.empty());
  EXPECT_EQ(probed[1].links[0][1].points.size(), 2U) << "to the sink";
}

/// Two devices of 10 and 20 ms, links of 5 ms.
partitioner::CostInputs two_devices() {
  partitioner::CostInputs inputs;
  inputs.boundary_bytes = {1, 1, 1};
  inputs.legal = {true, true, true};
  inputs.devices.resize(2);
  inputs.devices[0].compute = {Nanoseconds(0), milliseconds(10), milliseconds(30)};
  inputs.devices[1].compute = inputs.devices[0].compute;
  partitioner::LinkCosts link;
  link.delay = milliseconds(5);
  inputs.links.assign(3, std::vector<partitioner::LinkCosts>(3, link));
  return inputs;
}

TEST(PredictedThroughput, IsThatOfTheCostModelUnlessJitterIsKnownOfAllItsDevices) {
  const partitioner::Placement split{{{0, 0, 1}, {1, 1, 2}}};
  partitioner::CostInputs inputs = two_devices();
  const auto predicted = [&](int window) {
    return predicted_throughput(inputs, split, *partitioner::evaluate(inputs, split), window);
  };
  const auto at = [&](int window) { return predicted(window).batches_per_s; };
  EXPECT_DOUBLE_EQ(at(1), 1 / 0.045);
  EXPECT_DOUBLE_EQ(at(3), 1 / 0.020);
  EXPECT_DOUBLE_EQ(at(0), 1 / 0.020);
  EXPECT_EQ(predicted(0).window, 0) << "how few are enough is not known without jitter";
  inputs.devices[1].jitter = {0.2, 0.2, 0.2, 0.2, 1.8, 1.8, 1.8, 1.8};
  EXPECT_DOUBLE_EQ(at(3), 1 / 0.020) << "nothing is known of the other";
  inputs.devices[0].jitter = {1};
  EXPECT_NEAR(at(1), 1 / 0.045, 1e-3) << "a lone request's mean";
  EXPECT_LT(at(3), 0.97 / 0.020);
  EXPECT_GT(at(0), 1.02 * at(3)) << "a sweep would find a larger window";
  EXPECT_GT(predicted(0).window, 3);
  EXPECT_EQ(predicted(3).window, 3);
}

}  // namespace
}  // namespace pareto::client
