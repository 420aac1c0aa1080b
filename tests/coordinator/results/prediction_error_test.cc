// How far off predictions were, on figures that were worked out by hand.
#include "coordinator/results/prediction_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace pareto::results {
namespace {

using testing::IsEmpty;

/// 10 ms and 100 samples/s were predicted.
TrialRecord trial(const std::string& condition, double ms, double per_s) {
  TrialRecord record;
  record.condition = condition;
  record.latency.measured_p50_ms = ms;
  record.latency.samples = 12;
  record.throughput.measured_per_s = per_s;
  record.prediction = Prediction{.latency_ms = 10, .samples_per_s = 100};
  return record;
}

TEST(PredictionErrors, AreThoseOfEachNetworkByItself) {
  RunRecord run;
  run.trials = {trial("slow", 8, 100), trial("none", 10, 80), trial("slow", 20, 50),
                trial("slow", 12.5, 125)};
  const auto errors = prediction_errors(run);
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors[0].condition, "none");
  EXPECT_EQ(errors[0].trials, 1U);
  EXPECT_DOUBLE_EQ(errors[0].throughput.bias, 0.25);
  const PredictionError& slow = errors[1];
  EXPECT_EQ(slow.trials, 3U);
  EXPECT_DOUBLE_EQ(slow.latency.median, 0.25) << "of 25 % too slow, 50 and 20 % too fast";
  EXPECT_DOUBLE_EQ(slow.latency.p95, 0.5);
  EXPECT_DOUBLE_EQ(slow.latency.bias, 10 / 12.5 - 1);
  EXPECT_DOUBLE_EQ(slow.throughput.median, 0.2);
  EXPECT_DOUBLE_EQ(slow.throughput.p95, 1);
  EXPECT_DOUBLE_EQ(slow.throughput.bias, 0);
}

TEST(PredictionErrors, AreOfWhatWasPredictedAndMeasured) {
  RunRecord run;
  run.trials = {trial("none", 10, 100), trial("none", 10, 100), trial("none", 10, 100)};
  run.trials[0].prediction.reset();
  run.trials[1].latency.samples = 0;
  run.trials[2].status = TrialStatus::kFailed;
  EXPECT_THAT(prediction_errors(run), IsEmpty());
  run.trials.push_back(trial("none", 10, 100));
  run.trials.back().batch = 8;
  ASSERT_EQ(prediction_errors(run).size(), 1U);
  EXPECT_EQ(prediction_errors(run)[0].batch, 8);
}

TEST(KendallTau, CountsPairsInTheSameOrderAgainstThoseInTheOther) {
  EXPECT_DOUBLE_EQ(kendall_tau({{1, 10}, {2, 20}, {3, 30}}), 1);
  EXPECT_DOUBLE_EQ(kendall_tau({{1, 30}, {2, 20}, {3, 10}}), -1);
  EXPECT_DOUBLE_EQ(kendall_tau({{1, 10}, {2, 30}, {3, 20}}), (2.0 - 1.0) / 3.0);
  // Of three pairs one is equal in the first: 2 / sqrt(2 * 3).
  EXPECT_DOUBLE_EQ(kendall_tau({{1, 10}, {1, 20}, {2, 30}}), 2 / std::sqrt(6.0));
  EXPECT_DOUBLE_EQ(kendall_tau({{1, 10}, {0.99995, 20}, {2, 30}}), 2 / std::sqrt(6.0))
      << "so nearly equal is equal";
  EXPECT_DOUBLE_EQ(kendall_tau({{1, 10}, {0.9998, 20}, {2, 30}}), 1.0 / 3.0);
  EXPECT_EQ(kendall_tau({{1, 10}, {1, 20}}), 0) << "there is no order in what is equal";
  EXPECT_EQ(kendall_tau({}), 0);
}

TEST(KendallTau, LeavesOutWhatIsNotFarEnoughApart) {
  // The first two are equal but for noise, and in the wrong order.
  EXPECT_DOUBLE_EQ(kendall_tau({{1, 100.5}, {2, 100}, {3, 200}}, kEqual, 0.01), 1);
  EXPECT_DOUBLE_EQ(kendall_tau({{1, 102}, {2, 100}, {3, 200}}, kEqual, 0.01), 1.0 / 3.0);
  EXPECT_EQ(kendall_tau({{1, 100.5}, {2, 100}}, kEqual, 0.01), 0) << "nothing is left";
}

TEST(KendallTau, TakesForEqualWhatWasMeasuredSo) {
  EXPECT_DOUBLE_EQ(kendall_tau({{1, 100}, {2, 99.9}, {3, 200}}, 0.002), 2 / std::sqrt(6.0));
  EXPECT_DOUBLE_EQ(kendall_tau({{1, 100}, {2, 99.9}, {3, 200}}, 0.0005), 1.0 / 3.0);
}

TEST(PredictionErrors, KnowHowFarApartRoundsWere) {
  RunRecord run;
  run.trials = {trial("none", 100, 50), trial("none", 200, 40)};
  EXPECT_EQ(prediction_errors(run)[0].latency.resolution, kEqual) << "of one round nobody knows";
  for (TrialRecord& one : run.trials) one.rounds.resize(3);
  const auto set = [](TrialRound& round, double ms, double seconds) {
    round.latency_ms = {ms - 1, ms, ms + 50};
    round.intervals_s = {0.5 * seconds, 1.5 * seconds};
  };
  set(run.trials[0].rounds[0], 100, 1);
  set(run.trials[0].rounds[1], 102, 1);
  set(run.trials[0].rounds[2], 102, 1.25);
  set(run.trials[1].rounds[0], 200, 1);
  set(run.trials[1].rounds[1], 210, 1);
  set(run.trials[1].rounds[2], 200, 1);
  const PredictionError error = prediction_errors(run)[0];
  EXPECT_NEAR(error.latency.resolution, 0.02, 1e-12)
      << "of 0, 2, 4.8 and 5 % the smaller of the middle";
  EXPECT_DOUBLE_EQ(error.throughput.resolution, kEqual) << "most are equal";
}

TEST(PredictionErrors, HaveTheOrderOfAllPlansAndOfThoseThatAreApart) {
  RunRecord run;
  run.trials = {trial("none", 100, 50), trial("none", 100.5, 40), trial("none", 200, 30)};
  run.trials[0].prediction = Prediction{.latency_ms = 101, .samples_per_s = 50};
  run.trials[1].prediction = Prediction{.latency_ms = 100, .samples_per_s = 40};
  run.trials[2].prediction = Prediction{.latency_ms = 210, .samples_per_s = 30};
  const PredictionError error = prediction_errors(run).front();
  EXPECT_DOUBLE_EQ(error.latency.kendall_tau, 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(error.latency.kendall_tau_apart, 1);
  EXPECT_DOUBLE_EQ(error.throughput.kendall_tau, 1);
}

}  // namespace
}  // namespace pareto::results
