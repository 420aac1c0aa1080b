#include "coordinator/statistics/front.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "coordinator/results/front_chance.h"
#include "coordinator/statistics/statistics.h"
#include "tests/support/objectives.h"
#include "tests/support/simulated_rounds.h"

namespace pareto::statistics {
namespace {

/// Makes a trial that was measured in those rounds, with that latency in ms and that rate in
/// samples/s in each.
results::TrialRecord trial_of(const std::vector<int>& rounds, const std::vector<double>& latency_ms,
                              double samples_per_s = 100) {
  results::TrialRecord trial;
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    results::TrialRound& round = trial.rounds.emplace_back();
    round.round = rounds[i];
    round.latency_ms = {latency_ms[i], latency_ms[i]};
    round.intervals_s = {1 / samples_per_s, 1 / samples_per_s};
    trial.latency.samples += 2;
  }
  trial.latency.p50_ms = latency_ms.front();
  trial.throughput.samples_per_s = 100;
  return trial;
}

TEST(MeasurementOf, ATrialIsWhatAPredictionIsComparedWith) {
  results::TrialRecord trial = trial_of({0}, {10});
  trial.latency.p90_ms = 12;
  trial.latency.p99_ms = 15;
  trial.latency.mean_ms = 11;
  trial.throughput.window = 4;
  trial.stages.resize(2);
  trial.stages[0].peak_memory_bytes = 7;
  trial.stages[1].peak_memory_bytes = 5;
  trial.split.emplace().boundary_bytes = 300;
  const planning::Measurement measured = measurement_of(trial);
  EXPECT_EQ(measured.latency_p50_ms, 10);
  EXPECT_EQ(measured.latency_p90_ms, 12);
  EXPECT_EQ(measured.latency_p99_ms, 15);
  EXPECT_EQ(measured.latency_mean_ms, 11);
  EXPECT_EQ(measured.latency_window, 1);
  EXPECT_EQ(measured.throughput_per_s, 100);
  EXPECT_EQ(measured.throughput_window, 4);
  EXPECT_EQ(test::objective("memory").read(measured), 7) << "of the device that needs most";
  EXPECT_EQ(measured.boundary_bytes, 300U);
}

TEST(SettleByRounds, TrialsAreDrawnTogetherByTheRoundsThatTheyShare) {
  std::vector<results::TrialRecord> trials{trial_of({0, 1}, {10, 20}),
                                           trial_of({0, 1}, {13, 26}, 50)};
  settle_by_rounds(trials, 1);
  EXPECT_GT(trials[0].p_front, 0.9);
  EXPECT_LT(trials[1].p_front, 0.1);
  trials[1] = trial_of({0, 3}, {13, 26});
  settle_by_rounds(trials, 1);
  EXPECT_LT(trials[0].p_front, 0.9) << "what the other's second round met is not known";
  EXPECT_GT(trials[1].p_front, 0.1);
  EXPECT_TRUE(trials[0].on_front);
  EXPECT_FALSE(trials[1].on_front) << "by its figures";
}

TEST(SettleByRounds, FewRoundsMakeNothingCertain) {
  const std::vector<int> six{0, 1, 2, 3, 4, 5};
  for (const std::size_t count : {1U, 2U, 5U, 6U}) {
    const std::vector<int> rounds(six.begin(), six.begin() + static_cast<std::ptrdiff_t>(count));
    std::vector<results::TrialRecord> trials{trial_of(rounds, std::vector<double>(count, 10)),
                                             trial_of(rounds, std::vector<double>(count, 40), 25)};
    settle_by_rounds(trials, 1);
    const bool certain = count == 6;
    EXPECT_EQ(trials[0].p_front, certain ? 1 : 1 - results::kLeastChance) << count;
    EXPECT_EQ(trials[1].p_front, certain ? 0 : results::kLeastChance) << count;
    EXPECT_EQ(results::chance_text(trials[0]), certain ? "1.00" : "> 0.9");
    EXPECT_EQ(results::chance_text(trials[1]), certain ? "0.00" : "< 0.1");
  }
}

TEST(SettleByRounds, ProbabilitiesHoldAfterSixRoundsOnABusyMachine) {
  // Rounds differ by 30 %, and plans by 20 % more within each.
  constexpr int kRounds = 6;
  constexpr int kPlans = 10;
  int likely = 0;
  int likely_and_beaten = 0;
  int sure_and_beaten = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(1000 * seed);
    test::SimulatedRun machine({.drift = 0.3, .unit = 0.2, .noise = 0.4}, kRounds, seed);
    std::vector<results::TrialRecord> trials;
    std::vector<std::pair<double, double>> truths;
    for (int i = 0; i < kPlans; ++i) {
      truths.emplace_back(20 * std::exp(0.3 * random.normal()),
                          90 * std::exp(0.3 * random.normal()));
      trials.push_back(
          machine.measure(std::to_string(i), truths.back().first, truths.back().second));
      trials.back().latency.samples = 12L * kRounds;
    }
    settle_by_rounds(trials, seed);
    for (int i = 0; i < kPlans; ++i) {
      const auto& truth = truths[static_cast<std::size_t>(i)];
      const bool is_beaten = std::ranges::any_of(truths, [&](const auto& other) {
        return other.first < 0.99 * truth.first && other.second > 1.01 * truth.second;
      });
      const double chance = trials[static_cast<std::size_t>(i)].p_front;
      if (chance < 0.8) continue;
      ++likely;
      likely_and_beaten += is_beaten ? 1 : 0;
      sure_and_beaten += is_beaten && chance > 0.99 ? 1 : 0;
    }
  }
  EXPECT_GE(likely, 50);
  EXPECT_LE(likely_and_beaten, likely / 5);
  EXPECT_EQ(sure_and_beaten, 0) << "what is printed as 1.00";
}

TEST(SettleByRounds, NobodyKnowsOfAPlanThatIsNotMeasuredYet) {
  std::vector<results::TrialRecord> trials{trial_of({0}, {10}), results::TrialRecord{},
                                           results::TrialRecord{}};
  trials[2].status = results::TrialStatus::kFailed;
  settle_by_rounds(trials, 1);
  EXPECT_GT(trials[0].p_front, 0.9);
  EXPECT_EQ(trials[1].p_front, results::kUnsettled);
  EXPECT_EQ(trials[2].p_front, 0) << "what failed is on no front";
}

TEST(SettleByRounds, EqualDevicesHaveIntervalsInCommonAfterOneRound) {
  std::vector<results::TrialRecord> trials{trial_of({0}, {10}), trial_of({0}, {10.8})};
  settle_by_rounds(trials, 1);
  EXPECT_GT(trials[0].latency.ci95_ms.high, trials[1].latency.ci95_ms.low);
  EXPECT_GT(trials[1].p_front, 0.1);
}

TEST(SettleByRounds, FiguresThatArePrintedAlikeAreAlike) {
  std::vector<results::TrialRecord> trials{trial_of({0}, {10.001}), trial_of({0}, {10.004})};
  trials[1].rounds[0].intervals_s = {0.01 - 1e-8, 0.01 - 1e-8};
  settle_by_rounds(trials, 1);
  EXPECT_EQ(trials[0].latency.p50_ms, 10);
  EXPECT_EQ(trials[1].latency.p50_ms, 10);
  EXPECT_EQ(trials[0].throughput.samples_per_s, trials[1].throughput.samples_per_s);
  EXPECT_TRUE(trials[0].on_front);
  EXPECT_TRUE(trials[1].on_front);
}

TEST(SettleByBeliefs, ShowsWhatIsBelievedOfMeasuredTrials) {
  std::vector<results::TrialRecord> trials{trial_of({0}, {10}), trial_of({0}, {11}),
                                           results::TrialRecord{}};
  trials[0].time_split = {6, 3, 1};
  const Belief rate{.throughput = std::log(100), .throughput_deviation = 0.01, .p_front = 0.5};
  std::vector<Belief> beliefs(3, rate);
  beliefs[0].latency = std::log(10.5);
  beliefs[1].latency = std::log(10.4);
  beliefs[2].latency = std::log(1);
  settle_by_beliefs(trials, beliefs);
  EXPECT_EQ(trials[0].latency.p50_ms, 10.5);
  EXPECT_EQ(trials[0].latency.measured_p50_ms, 10);
  EXPECT_NEAR(trials[0].time_split.compute_ms, 6.3, 1e-9);
  EXPECT_FALSE(trials[0].on_front);
  EXPECT_TRUE(trials[1].on_front);
  EXPECT_FALSE(trials[2].on_front) << "nobody measured it";
  EXPECT_EQ(trials[2].p_front, 0.5) << "and yet it may be there";
}

}  // namespace
}  // namespace pareto::statistics
