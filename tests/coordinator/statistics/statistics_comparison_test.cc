#include "coordinator/statistics/statistics_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/simulated_rounds.h"

namespace pareto::statistics {
namespace {

using planning::Direction;
using test::Disturbance;
using test::SimulatedRun;

std::vector<RoundFigure> figures(const std::vector<double>& values, double error = 0) {
  std::vector<RoundFigure> made;
  for (const double value : values) {
    made.push_back({static_cast<int>(made.size()), std::log(value), error});
  }
  return made;
}

TEST(PairedRatio, IsStudentsIntervalOfTheLogarithms) {
  // Logarithms of the ratios: 0.1, 0.2, 0.3: mean 0.2, standard error 0.1 / sqrt(3).
  const auto a = figures({10, 20, 40});
  const auto b = figures({10 * std::exp(0.1), 20 * std::exp(0.2), 40 * std::exp(0.3)});
  const Ratio ratio = paired_ratio(a, b);
  EXPECT_TRUE(ratio.paired);
  EXPECT_EQ(ratio.rounds_a, 3);
  EXPECT_NEAR(ratio.value, std::exp(0.2), 1e-9);
  const double half = 6.20535 * 0.1 / std::sqrt(3);
  EXPECT_NEAR(ratio.ci975->low, std::exp(0.2 - half), 1e-5);
  EXPECT_NEAR(ratio.ci975->high, std::exp(0.2 + half), 1e-5);
  EXPECT_NEAR(std::log(ratio.ci90->high) - 0.2, 2.91999 * 0.1 / std::sqrt(3), 1e-5);
}

TEST(PairedRatio, TakesRoundsThatBothHave) {
  auto a = figures({10, 20, 40});
  auto b = figures({11, 22, 44, 1000});
  a.erase(a.begin());
  EXPECT_EQ(paired_ratio(a, b).rounds_a, 2);
  EXPECT_NEAR(paired_ratio(a, b).value, 1.1, 1e-9);
  a.pop_back();
  EXPECT_FALSE(paired_ratio(a, b).ci975) << "one round says nothing about the next";
  EXPECT_NEAR(paired_ratio(a, b).value, 1.1, 1e-9);
  EXPECT_FALSE(paired_ratio({}, {}).ci975);
}

TEST(PairedRatio, IsNeverNarrowerThanWhatItsSamplesAllow) {
  // Three rounds that agree to the last digit, of samples that do not.
  const Ratio ratio = paired_ratio(figures({10, 20, 40}, 0.03), figures({10, 20, 40}, 0.04));
  const double half = 2.24140 * 0.05 / std::sqrt(3);
  EXPECT_NEAR(std::log(ratio.ci975->high), half, 1e-5);
  EXPECT_NEAR(std::log(ratio.ci975->low), -half, 1e-5);
}

TEST(UnpairedRatio, IsWelchs) {
  // Standard errors 0.1 / sqrt(3) and 0: as if b were known, two degrees are left.
  const auto a = figures({std::exp(0.1), std::exp(0.2), std::exp(0.3)});
  const Ratio ratio = unpaired_ratio(a, figures({1, 1}));
  EXPECT_FALSE(ratio.paired);
  EXPECT_EQ(ratio.rounds_b, 2);
  EXPECT_NEAR(std::log(ratio.value), -0.2, 1e-9);
  EXPECT_NEAR(std::log(ratio.ci975->high) + 0.2, 6.20535 * 0.1 / std::sqrt(3), 1e-5);
  // Equal spreads: the degrees of both together.
  const Ratio equal = unpaired_ratio(a, a);
  EXPECT_NEAR(std::log(equal.ci975->high), 3.49541 * 0.1 * std::sqrt(2.0 / 3), 1e-5);
  EXPECT_FALSE(unpaired_ratio(a, figures({1})).ci975);
  EXPECT_FALSE(unpaired_ratio({}, a).ci975);
  EXPECT_DOUBLE_EQ(unpaired_ratio(figures({2, 2}), figures({3, 3})).ci975->low, 1.5);
}

TEST(AllowFor, StretchesToWhatSomethingElseExplains) {
  Ratio ratio{
      .value = 1.2, .ci975 = results::Interval{1.1, 1.3}, .ci90 = results::Interval{1.15, 1.25}};
  EXPECT_DOUBLE_EQ(allow_for(ratio, 0.8).ci975->low, 1.1 * 0.8);
  EXPECT_DOUBLE_EQ(allow_for(ratio, 0.8).ci975->high, 1.3);
  EXPECT_DOUBLE_EQ(allow_for(ratio, 1.1).ci90->high, 1.25 * 1.1);
  EXPECT_DOUBLE_EQ(allow_for(ratio, 1.1).ci90->low, 1.15);
  EXPECT_DOUBLE_EQ(allow_for(ratio, 0.8).value, 1.2);
  EXPECT_FALSE(allow_for(Ratio{}, 2).ci975);
}

Ratio between(double low, double high) {
  Ratio ratio;
  ratio.value = std::sqrt(low * high);
  ratio.ci975 = results::Interval{low, high};
  const double half = std::log(high / low) / 2 * 0.84;
  ratio.ci90 = results::Interval{ratio.value * std::exp(-half), ratio.value * std::exp(half)};
  return ratio;
}

TEST(Verdicts, AreFour) {
  constexpr Direction kCost = Direction::kSmallerIsBetter;
  constexpr Direction kGain = Direction::kLargerIsBetter;
  EXPECT_EQ(judge(between(1.03, 1.2), kCost, 0.02), Verdict::kSlower);
  EXPECT_EQ(judge(between(1.03, 1.2), kGain, 0.02), Verdict::kFaster);
  EXPECT_EQ(judge(between(0.8, 0.97), kCost, 0.02), Verdict::kFaster);
  EXPECT_EQ(judge(between(0.8, 0.97), kGain, 0.02), Verdict::kSlower);
  EXPECT_EQ(judge(between(0.99, 1.01), kCost, 0.02), Verdict::kSame);
  EXPECT_EQ(judge(between(0.99, 1.01), kCost, 0), Verdict::kCannotTell);
  EXPECT_EQ(judge(between(0.9, 1.1), kCost, 0.02), Verdict::kCannotTell);
  // Surely different, and surely by less than anybody asked for.
  EXPECT_EQ(judge(between(1.003, 1.015), kCost, 0.02), Verdict::kSame);
  EXPECT_EQ(judge(Ratio{.value = 3}, kCost, 0.02), Verdict::kCannotTell);
}

TEST(Verdicts, ARegressionIsBeyondTheToleranceAsAWhole) {
  constexpr Direction kCost = Direction::kSmallerIsBetter;
  constexpr Direction kGain = Direction::kLargerIsBetter;
  EXPECT_TRUE(is_regression(between(1.03, 1.2), kCost, 0.02));
  EXPECT_FALSE(is_regression(between(1.01, 1.2), kCost, 0.02));
  EXPECT_FALSE(is_regression(between(1.03, 1.2), kGain, 0.02));
  EXPECT_TRUE(is_regression(between(0.8, 0.97), kGain, 0.02));
  EXPECT_FALSE(is_regression(between(0.8, 0.985), kGain, 0.02));
  EXPECT_FALSE(is_regression(Ratio{.value = 3}, kCost, 0.02));
}

/// The number of times that each verdict was given, over many simulated pairs.
struct Tally {
  int pairs = 0;
  int differ = 0;
  int same = 0;
  int slower = 0;

  void add(const Ratio& latency_ratio, const Ratio& throughput_ratio) {
    const Verdict latency = judge(latency_ratio, Direction::kSmallerIsBetter, 0.02);
    const Verdict throughput = judge(throughput_ratio, Direction::kLargerIsBetter, 0.02);
    const auto either = [&](Verdict verdict) {
      return latency == verdict || throughput == verdict;
    };
    ++pairs;
    differ += either(Verdict::kFaster) || either(Verdict::kSlower) ? 1 : 0;
    slower += either(Verdict::kSlower) ? 1 : 0;
    same += latency == Verdict::kSame && throughput == Verdict::kSame ? 1 : 0;
  }
};

/// Pairs of plans, the second `factor` times as slow, in one run or in two.
Tally compare_pairs(const Disturbance& disturbance, int rounds, bool one_run, double factor,
                    int pairs) {
  Tally tally;
  for (int i = 0; i < pairs; ++i) {
    SimulatedRun first(disturbance, rounds, static_cast<std::uint64_t>(1000 + i));
    SimulatedRun second(disturbance, rounds, static_cast<std::uint64_t>(900'000 + i));
    const results::TrialRecord a = first.measure("a", 10, 100);
    const results::TrialRecord b =
        (one_run ? first : second).measure("b", 10 * factor, 100 / factor);
    const auto compare = one_run ? paired_ratio : unpaired_ratio;
    tally.add(compare(latency_figures(a.rounds), latency_figures(b.rounds)),
              compare(throughput_figures(a.rounds, 1), throughput_figures(b.rounds, 1)));
  }
  return tally;
}

TEST(TheSamePlanTwice, DiffersInAtMostOneOfTwentyComparisons) {
  constexpr int kPairs = 120;
  Tally all;
  for (const int rounds : {2, 3, 5}) {
    for (const double drift : {0.02, 0.05}) {
      for (const double correlation : {0.3, 0.85}) {
        for (const bool one_run : {false, true}) {
          const Tally tally = compare_pairs({.drift = drift, .correlation = correlation}, rounds,
                                            one_run, 1, kPairs);
          // Four standard errors of a share of 0.05 in 120 pairs.
          EXPECT_LE(tally.differ, kPairs * 13 / 100)
              << rounds << " rounds, drift " << drift << ", correlation " << correlation;
          all.pairs += tally.pairs;
          all.differ += tally.differ;
        }
      }
    }
  }
  EXPECT_LE(all.differ, all.pairs / 20);
  // Nor is an interval right that never misses.
  EXPECT_GE(all.differ, all.pairs / 100);
}

TEST(TheSamePlanTwice, IsTheSameAfterEnoughRounds) {
  const Disturbance quiet{.noise = 0.02, .outliers = 0};
  const Tally tally = compare_pairs(quiet, 30, true, 1, 40);
  EXPECT_GE(tally.same, tally.pairs * 9 / 10);
}

TEST(ASlowerPlan, IsSeenInPairedRoundsDespiteTheDrift) {
  const Disturbance drifting{.drift = 0.05, .unit = 0.005, .noise = 0.03, .outliers = 0};
  const Tally paired = compare_pairs(drifting, 5, true, 1.1, 60);
  const Tally unpaired = compare_pairs(drifting, 5, false, 1.1, 60);
  EXPECT_GE(paired.slower, paired.pairs * 95 / 100);
  EXPECT_LT(unpaired.slower, paired.slower);
  EXPECT_EQ(paired.same, 0);
}

TEST(TwoAlmostEqualPlans, AreNotCalledTheSameWhereTheyAreNot) {
  const Tally tally =
      compare_pairs({.unit = 0.005, .noise = 0.03, .outliers = 0}, 10, true, 1.03, 60);
  EXPECT_LE(tally.same, tally.pairs / 20);
}

}  // namespace
}  // namespace pareto::statistics
