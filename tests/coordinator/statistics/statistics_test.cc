#include "coordinator/statistics/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/simulated_rounds.h"

namespace pareto::statistics {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

/// Returns a number, roughly normal: twelve uniforms.
double noise(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

/// x[i] = a x[i-1] + noise: its integrated correlation length is (1 + a) / (1 - a).
std::vector<double> autoregressive(double a, std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> samples;
  double x = 0;
  for (std::size_t i = 0; i < count; ++i) {
    x = a * x + noise(random);
    samples.push_back(10 + x);
  }
  return samples;
}

TEST(Quantile, InterpolatesBetweenOrderStatistics) {
  const std::vector<double> samples{4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(results::quantile(samples, 0), 1);
  EXPECT_DOUBLE_EQ(results::quantile(samples, 1), 4);
  EXPECT_DOUBLE_EQ(median(samples), 2.5);
  EXPECT_DOUBLE_EQ(results::quantile(samples, 0.9), 3.7);
  EXPECT_DOUBLE_EQ(mean(samples), 2.5);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{7}), 7);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{}), 0);
}

TEST(RandomNumbers, AreTheSameEverywhere) {
  // SplitMix64 from seed 1234567, as in its reference implementation.
  Random random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317U);
  EXPECT_EQ(random.next(), 3203168211198807973U);
  EXPECT_THAT(Random(1).permutation(4), UnorderedElementsAre(0, 1, 2, 3));
  EXPECT_EQ(Random(9).permutation(50), Random(9).permutation(50));
  EXPECT_NE(Random(9).permutation(50), Random(10).permutation(50));
}

TEST(CorrelationLength, IsThatOfAnAutoregressiveSeries) {
  EXPECT_NEAR(correlation_length(autoregressive(0, 4000, 1)), 1, 0.3);
  EXPECT_NEAR(correlation_length(autoregressive(0.8, 4000, 2)), 9, 2.5);
  EXPECT_DOUBLE_EQ(correlation_length(std::vector<double>(20, 3.0)), 1);
  EXPECT_DOUBLE_EQ(correlation_length(std::vector<double>{1, 2}), 1);
}

TEST(Bootstrap, CoversTheTruthAboutNineteenTimesInTwenty) {
  for (const double a : {0.0, 0.6}) {
    int covered = 0;
    constexpr int kTries = 100;
    for (std::uint64_t i = 0; i < kTries; ++i) {
      const auto samples = autoregressive(a, 300, 100 + i);
      const results::Interval interval = bootstrap_interval(samples, mean, 5, 200);
      EXPECT_LE(interval.low, interval.high);
      if (interval.low <= 10 && interval.high >= 10) ++covered;
    }
    // Resampling one by one would reach about 65 at a = 0.6.
    EXPECT_GE(covered, 84) << a;
  }
}

TEST(Bootstrap, IsWiderWhereNeighboursResembleEachOther) {
  auto samples = autoregressive(0.8, 400, 3);
  const results::Interval correlated = bootstrap_interval(samples, mean, 1);
  Random random(4);
  std::vector<double> shuffled;
  for (const std::size_t i : random.permutation(samples.size())) shuffled.push_back(samples[i]);
  const results::Interval independent = bootstrap_interval(shuffled, mean, 1);
  EXPECT_GT(correlated.high - correlated.low, 1.5 * (independent.high - independent.low));
}

TEST(Bootstrap, OfOneSampleIsThatSample) {
  const results::Interval interval = bootstrap_interval(std::vector<double>{4.5}, median, 1);
  EXPECT_DOUBLE_EQ(interval.low, 4.5);
  EXPECT_DOUBLE_EQ(interval.high, 4.5);
}

TEST(WarmUp, DiscardsByWindowAndGoesOnUntilLevel) {
  EXPECT_EQ(warm_up_requests(1), 10);
  EXPECT_EQ(warm_up_requests(8), 16);
  EXPECT_TRUE(is_level(std::vector<double>{10, 11, 10, 11, 10, 11, 10, 11}, 1));
  EXPECT_FALSE(is_level(std::vector<double>{40, 36, 33, 30, 12, 11, 10.5, 10}, 1));
  EXPECT_FALSE(is_level(std::vector<double>{10, 10, 10}, 1));
}

TEST(WarmUp, NoiseAloneIsNoTrendAndATrendIs) {
  int level = 0;
  int trending = 0;
  constexpr int kTries = 60;
  for (int i = 0; i < kTries; ++i) {
    Random random(static_cast<std::uint64_t>(1000 + i));
    std::vector<double> noisy;
    std::vector<double> cooling;
    for (int j = 0; j < 40; ++j) {
      noisy.push_back(100 + 10 * noise(random));
      cooling.push_back(100 + 5 * noise(random) + 40 - j);
    }
    level += is_level(noisy, 1) ? 1 : 0;
    trending += is_level(cooling, 1) ? 0 : 1;
  }
  EXPECT_GE(level, kTries * 85 / 100);
  EXPECT_GE(trending, kTries * 85 / 100);
}

TEST(Throughput, IsTheSlopeBetweenFillAndDrain) {
  // Window 2: four completions of fill, two of drain; a slow start and a fast end must not count.
  const std::vector<double> completions{5, 9, 12, 14, 15, 16, 17, 18, 18.1, 18.2};
  EXPECT_THAT(steady_intervals(completions, 2), ElementsAre(1, 1));
  EXPECT_TRUE(steady_intervals(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8}, 2).empty());
  EXPECT_THAT(steady_intervals(std::vector<double>{5, 9, 10, 11}, 1, 1, 0), ElementsAre(1, 1));
  EXPECT_THAT(throughput_of_rounds({{0.5, 0.5}, {0.25}, {}}, 8), ElementsAre(16, 32, 0));
  const results::Interval interval =
      throughput_interval({{0.9, 1.1, 1}, {1, 1.05, 0.95}, {1, 1, 1}}, 1, 7);
  EXPECT_LE(interval.low, 1);
  EXPECT_GE(interval.high, 1);
  EXPECT_GT(interval.low, 0.85);
  EXPECT_LT(interval.high, 1.15);
}

TEST(Throughput, IsThatOfWholeWindowsWhereTheyComeInBursts) {
  // Four in flight, all back within 0.03 s, every second: 4 a second.
  std::vector<double> completions;
  for (int burst = 0; burst < 6; ++burst) {
    for (int i = 0; i < 4; ++i) completions.push_back(burst + 0.01 * i);
  }
  for (const int more : {0, 1, 2, 3}) {
    const std::span some = std::span(completions).first(completions.size() - 3 + more);
    const double slope = throughput_of_rounds({steady_intervals(some, 4)}, 1).front();
    EXPECT_NEAR(slope, 4, 0.05) << more;
  }
}

TEST(Throughput, OfAMedianRunIsNotThatOfAStall) {
  const std::vector<double> stalled{1, 1.1, 1, 6, 1, 1.2, 9};
  EXPECT_THAT(median_run(stalled, 2), ElementsAre(1, 1.2));
  EXPECT_THAT(median_run(std::span(stalled).first(4), 2), ElementsAre(1, 1.1));
  EXPECT_TRUE(median_run(std::span(stalled).first(1), 2).empty());
}

RoundSamples rounds(const std::vector<double>& latency, const std::vector<double>& throughput) {
  RoundSamples samples;
  for (const double ms : latency) samples.latency_ms.push_back({ms, ms});
  for (const double rate : throughput) samples.intervals_s.push_back({1 / rate, 1 / rate});
  return samples;
}

TEST(FrontProbability, IsSureOfClearCases) {
  const auto probability = front_probability(
      {rounds({10, 10, 10}, {100, 101, 99}), rounds({20, 20, 20}, {180, 181, 179}),
       rounds({21, 21, 21}, {150, 151, 149})},
      1);
  EXPECT_THAT(probability, ElementsAre(1, 1, 0));
}

TEST(FrontProbability, IsBetweenWhereRoundsDisagree) {
  const auto probability = front_probability(
      {rounds({10, 14, 10}, {100, 100, 100}), rounds({12, 12, 12}, {100, 100, 100})}, 1);
  EXPECT_GT(probability[0], 0.5);
  EXPECT_LT(probability[0], 1);
  EXPECT_GT(probability[1], 0);
  EXPECT_LT(probability[1], 0.5);
}

RoundSamples rounds_of(const results::TrialRecord& trial) {
  RoundSamples samples;
  for (const results::TrialRound& round : trial.rounds) {
    samples.latency_ms.push_back(round.latency_ms);
    samples.intervals_s.push_back(round.intervals_s);
  }
  return samples;
}

TEST(FrontProbability, IsNotSureOfWhatTwoRoundsHappenToSay) {
  // Two equal plans: by rounds alone, one in sixteen is beaten in all resamples.
  int certain = 0;
  double clearly_worse = 0;
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    test::SimulatedRun run({}, 2, static_cast<std::uint64_t>(50 + i));
    const auto probability = front_probability(
        {rounds_of(run.measure("a", 10, 100)), rounds_of(run.measure("b", 10, 100)),
         rounds_of(run.measure("c", 14, 70))},
        3, {}, 100);
    certain += probability[0] < 0.05 ? 1 : 0;
    clearly_worse += probability[2] / kTries;
  }
  EXPECT_LE(certain, 3);
  EXPECT_LT(clearly_worse, 0.01);
}

TEST(FrontProbability, RoundsThatATrialLacksSayNothingOfIt) {
  // In each of two rounds the first is faster; in rounds of its own the second may have met a
  // better moment.
  const auto shared =
      front_probability({rounds({10, 20}, {100, 100}), rounds({11, 21}, {100, 100})}, 1);
  EXPECT_THAT(shared, ElementsAre(1, 0));
  const RoundSamples first = rounds({10, 20}, {100, 100});
  RoundSamples second = rounds({11, 21}, {100, 100});
  const std::vector<std::vector<double>> lacking(2);
  second.latency_ms.insert(second.latency_ms.begin(), lacking.begin(), lacking.end());
  second.intervals_s.insert(second.intervals_s.begin(), lacking.begin(), lacking.end());
  const auto apart = front_probability({first, second}, 1);
  EXPECT_GT(apart[1], 0.15);
  EXPECT_LT(apart[1], 0.5);
  const RoundSamples nothing{lacking, lacking};
  EXPECT_THAT(front_probability({first, nothing}, 1), ElementsAre(1, 0));
}

TEST(FrontProbability, EqualWithinTheToleranceStayBoth) {
  const auto probability =
      front_probability({rounds({10, 10}, {100, 100}), rounds({10.05, 10.05}, {100, 100})}, 1);
  EXPECT_NEAR(probability[0], 1, 1e-9);
  EXPECT_NEAR(probability[1], 1, 1e-9);
  EXPECT_TRUE(front_probability({}, 1).empty());
}

}  // namespace
}  // namespace pareto::statistics
