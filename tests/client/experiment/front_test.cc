#include "client/experiment/front.h"

#include <gtest/gtest.h>

namespace pareto::client {
namespace {

/// Measured in those rounds, each of which took so many ms.
TrialRecord trial_of(const std::vector<int>& rounds, const std::vector<double>& latency_ms) {
  TrialRecord trial;
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    TrialRound& round = trial.rounds.emplace_back();
    round.round = rounds[i];
    round.latency_ms = {latency_ms[i], latency_ms[i]};
    round.intervals_s = {0.01, 0.01};
    trial.latency.samples += 2;
  }
  trial.latency.p50_ms = latency_ms.front();
  trial.throughput.samples_per_s = 100;
  return trial;
}

TEST(MeasurementOf, ATrialIsWhatAPredictionIsComparedWith) {
  TrialRecord trial = trial_of({0}, {10});
  trial.latency.p90_ms = 12;
  trial.latency.p99_ms = 15;
  trial.latency.mean_ms = 11;
  trial.throughput.window = 4;
  trial.stages.resize(2);
  trial.stages[0].peak_memory_bytes = 7;
  trial.stages[1].peak_memory_bytes = 5;
  trial.split.emplace().boundary_bytes = 300;
  const partitioner::Measurement measured = measurement_of(trial);
  EXPECT_EQ(measured.latency_p50_ms, 10);
  EXPECT_EQ(measured.latency_p90_ms, 12);
  EXPECT_EQ(measured.latency_p99_ms, 15);
  EXPECT_EQ(measured.latency_mean_ms, 11);
  EXPECT_EQ(measured.latency_window, 1);
  EXPECT_EQ(measured.throughput_per_s, 100);
  EXPECT_EQ(measured.throughput_window, 4);
  EXPECT_EQ(measured.peak_memory_bytes, 7U) << "of the device that needs most";
  EXPECT_EQ(measured.boundary_bytes, 300U);
}

TEST(MarkFront, TrialsAreDrawnTogetherByTheRoundsThatTheyShare) {
  std::vector<TrialRecord> trials{trial_of({0, 1}, {10, 20}), trial_of({0, 1}, {11, 21})};
  mark_front(trials, 1);
  EXPECT_EQ(trials[0].p_front, 1);
  EXPECT_EQ(trials[1].p_front, 0);
  trials[1] = trial_of({0, 3}, {11, 21});
  mark_front(trials, 1);
  EXPECT_LT(trials[0].p_front, 1) << "what the other's second round met is not known";
  EXPECT_GT(trials[1].p_front, 0);
  EXPECT_TRUE(trials[0].on_front);
  EXPECT_FALSE(trials[1].on_front) << "by its figures";
}

TEST(MarkOnFront, GoesByWhatIsBelievedOfMeasuredTrials) {
  std::vector<TrialRecord> trials{trial_of({0}, {10}), trial_of({0}, {11}), TrialRecord{}};
  mark_front(trials, 1);
  ASSERT_TRUE(trials[0].on_front);
  const auto figures = [](double latency_ms) {
    partitioner::Measurement point;
    point.latency_p50_ms = latency_ms;
    point.throughput_per_s = 100;
    return point;
  };
  mark_on_front(trials, std::vector{figures(10.5), figures(10.4), figures(1)});
  EXPECT_FALSE(trials[0].on_front);
  EXPECT_TRUE(trials[1].on_front);
  EXPECT_FALSE(trials[2].on_front) << "nobody measured it";
}

}  // namespace
}  // namespace pareto::client
