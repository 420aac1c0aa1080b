// Where predictions say something of plans that were not measured, on figures made by hand.
#include "coordinator/results/prediction_guide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/results/front_chance.h"
#include "coordinator/results/prediction_error.h"

namespace pareto::results {
namespace {

using Figures = std::vector<double>;

/// The plans of one batch and condition, whose throughput is the inverse of their latency.
PredictedGroup group_of(const Figures& predicted_ms, const Figures& measured_ms) {
  PredictedGroup group;
  for (std::size_t i = 0; i < measured_ms.size(); ++i) {
    group.latency.push_back({predicted_ms[i], measured_ms[i]});
    group.throughput.push_back({1000 / predicted_ms[i], 1000 / measured_ms[i]});
  }
  return group;
}

bool guides(const Figures& predicted_ms, const Figures& measured_ms, bool doubted = false) {
  PredictedGroup group = group_of(predicted_ms, measured_ms);
  group.doubted = doubted;
  return prediction_guides({&group, 1}).at(0).guides;
}

TEST(PredictionGuide, PredictionsGuideUnlessTheyBreakTheOrder) {
  const Figures near{10, 11, 12, 13};
  EXPECT_TRUE(guides(near, {10, 11, 12, 14}));
  EXPECT_FALSE(guides(near, {14, 12, 11, 10}));
  EXPECT_FALSE(guides(near, {13, 10, 14, 11})) << "as many pairs as not";
  EXPECT_TRUE(guides(near, {30, 33, 36, 39})) << "an error that all have in common";
  EXPECT_TRUE(guides({10, 11, 12}, {12, 11, 10})) << "three plans say nothing";
  EXPECT_TRUE(guides(near, {12, 12.05, 12, 12.05})) << "there is no order";
}

TEST(PredictionGuide, PlansThatAreSetFarApartKeepTheirOrder) {
  const Figures far{10, 13, 17, 22, 28};
  EXPECT_TRUE(guides(far, {12, 11, 15, 17, 20})) << "one pair of ten is broken";
  EXPECT_FALSE(guides(far, {12, 11, 15, 14, 20})) << "two pairs of ten are";
  EXPECT_FALSE(guides(far, {12, 12, 15, 15, 20})) << "equal plans were not to be expected";
  EXPECT_FALSE(guides({28, 22, 17, 13, 10}, {20, 15, 15, 12, 12})) << "in whatever order";
}

TEST(PredictionGuide, PredictionsOfABusyMachineGuideOnceTheyAreProved) {
  const Figures far{10, 13, 17, 22, 28};
  EXPECT_TRUE(guides(far, far, true));
  EXPECT_FALSE(guides({10, 13, 17, 22}, {10, 13, 17, 22}, true));
  EXPECT_FALSE(guides({}, {}, true));
  EXPECT_TRUE(guides({}, {}));
}

TEST(PredictionGuide, GroupsShareDevices) {
  const Figures far{10, 13, 17, 22, 28};
  const Figures reversed{28, 22, 17, 13, 10};
  const std::vector<PredictedGroup> groups{group_of(far, reversed), group_of(far, far)};
  const std::vector<PredictionGuide> judged = prediction_guides(groups);
  EXPECT_TRUE(judged[0].breaks_latencies);
  EXPECT_TRUE(judged[0].breaks_throughputs);
  EXPECT_FALSE(judged[1].breaks_latencies);
  EXPECT_FALSE(judged[1].guides) << "half of all pairs are broken";
}

/// Five plans that were measured, and one that was not.
std::vector<TrialRecord> trials_of(const Figures& measured_ms) {
  std::vector<TrialRecord> trials(measured_ms.size() + 1);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const double predicted_ms = 10.0 * static_cast<double>(i + 1);
    trials[i].prediction =
        Prediction{.latency_ms = predicted_ms, .samples_per_s = 1000 / predicted_ms};
    trials[i].p_front = kLeastChance;
    if (i == measured_ms.size()) continue;
    trials[i].latency.samples = 12;
    trials[i].latency.measured_p50_ms = measured_ms[i];
    trials[i].throughput.measured_per_s = 1000 / measured_ms[i];
  }
  return trials;
}

TEST(PredictionGuide, NobodyKnowsWhereAPlanStandsThatIsOnlyPredictedByNoGuide) {
  RunRecord run;
  run.trials = trials_of({10, 20, 30, 40, 50});
  unsettle_unguided(run.trials);
  EXPECT_EQ(run.trials.back().p_front, kLeastChance);
  EXPECT_EQ(chance_text(run.trials.back()), "< 0.1");
  EXPECT_FALSE(prediction_errors(run).at(0).no_guide);
  run.trials = trials_of({50, 40, 30, 20, 10});
  unsettle_unguided(run.trials);
  EXPECT_EQ(run.trials.back().p_front, kUnsettled);
  EXPECT_EQ(chance_text(run.trials.back()), "-");
  EXPECT_EQ(run.trials.front().p_front, kLeastChance) << "it was measured";
  EXPECT_EQ(undecided(run), 1U);
  const PredictionError error = prediction_errors(run).at(0);
  EXPECT_TRUE(error.no_guide);
  EXPECT_TRUE(error.latency.breaks_order);
}

TEST(PredictionGuide, WhatARaceSawInTheRoundsCountsAndNotTheirMedians) {
  std::vector<TrialRecord> trials = trials_of({50, 40, 30, 20, 10});
  for (std::size_t i = 0; i + 1 < trials.size(); ++i) {
    trials[i].prediction->seen_latency_ms = trials[i].prediction->latency_ms;
    trials[i].prediction->seen_samples_per_s = trials[i].prediction->samples_per_s;
  }
  EXPECT_TRUE(prediction_guides(trials).at({1, "none"}).guides);
}

TEST(PredictionGuide, AFailedPlanIsNoEvidence) {
  std::vector<TrialRecord> trials = trials_of({50, 40, 30, 20, 10});
  for (TrialRecord& trial : trials) trial.status = TrialStatus::kFailed;
  EXPECT_TRUE(prediction_guides(trials).empty());
}

}  // namespace
}  // namespace pareto::results
