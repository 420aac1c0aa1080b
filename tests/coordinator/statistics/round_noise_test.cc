#include "coordinator/statistics/round_noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coordinator/statistics/statistics.h"
#include "tests/support/interval_coverage.h"
#include "tests/support/simulated_rounds.h"

namespace pareto::statistics {
namespace {

using Rounds = std::vector<SeenRound>;

TEST(RoundNoise, PlansShareTheMachinesStateAndDifferInWhatIsLeft) {
  // States +0.3, 0 and -0.3; of the second plan 0.02 more or less is left in two of them.
  const std::vector<Rounds> plans{{{0, 1.3}, {1, 1}, {2, 0.7}},
                                  {{0, 2.32}, {1, 1.98}, {2, 1.7}},
                                  {{0, 3.3}, {1, 3}, {2, 2.7}},
                                  {}};
  const RoundNoise noise = learn_round_noise(plans, 0);
  EXPECT_EQ(noise.rounds, 3U);
  EXPECT_GT(noise.state.value, 0.18 / 4);
  EXPECT_LT(noise.state.value, 0.18 / 2);
  EXPECT_EQ(noise.state.degrees, 3.5) << "three rounds, less one, and what the prior is worth";
  EXPECT_LE(noise.plans[0].left.value, noise.plans[1].left.value);
  EXPECT_LT(noise.plans[1].left.value, 0.0008);
  EXPECT_GT(noise.plans[1].left.degrees, noise.plans[3].left.degrees);
}

TEST(RoundNoise, OneRoundHasTheIntervalThatOtherPlansTeach) {
  const auto plans_with = [](double left) {
    std::vector<Rounds> plans{{{0, 1}}};
    for (int i = 0; i < 8; ++i) {
      const double sign = i % 2 == 0 ? left : -left;
      plans.push_back({{0, 2 + sign}, {1, 2 - sign}, {2, 2 + sign}, {3, 2 - sign}});
    }
    return plans;
  };
  const auto width = [](const std::vector<Rounds>& plans) {
    const results::Interval interval = interval_about(10, error_of(learn_round_noise(plans, 0), 0));
    EXPECT_NEAR(interval.low * interval.high, 100, 1e-9);
    return std::log(interval.high / interval.low);
  };
  EXPECT_LT(width(plans_with(0.01)), 0.5 * width(plans_with(0.1)));
  EXPECT_GT(width(plans_with(0.1)), 2 * 2 * 0.1);
}

TEST(RoundNoise, OwnRoundsOutweighThePoolOnceThereAreMany) {
  std::vector<Rounds> plans(9);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const double left = i == 0 ? 0.2 : 0.01;
    for (int round = 0; round < 20; ++round) {
      const double sign = (round + static_cast<int>(i)) % 2 == 0 ? 1 : -1;
      plans[i].push_back({round, sign * left});
    }
  }
  const RoundNoise noise = learn_round_noise(plans, 0);
  EXPECT_GT(noise.plans[0].left.value, 0.7 * 0.2 * 0.2);
  EXPECT_LT(noise.plans[1].left.value, 0.4 * 0.2 * 0.2);
}

TEST(FigureErrors, AddUpWithWelchsDegrees) {
  const FigureError sum = FigureError{1, 4} + FigureError{1, 4};
  EXPECT_DOUBLE_EQ(sum.variance, 2);
  EXPECT_DOUBLE_EQ(sum.degrees, 8);
  EXPECT_DOUBLE_EQ((FigureError{1, 4} + FigureError{0, 1}).degrees, 4);
  // Student's t of four degrees: 2.776 standard deviations.
  EXPECT_NEAR(interval_about(1, {0.01, 4}).high, std::exp(0.2776), 1e-4);
}

constexpr int kNoisyRuns = 200;
constexpr int kAllRounds = 30;

constexpr std::size_t kSubsets[] = {1, 2, 3, 6};

/// The coverages of one number of rounds …
struct Coverages {
  test::Coverage alike;  ///< … if all plans have as many …
  test::Coverage among;  ///< … and if the others have four at least
};

/// Returns the coverages in the order of kSubsets, of as many runs of six plans as there are tries.
std::vector<Coverages> coverages_of(const test::Disturbance& disturbance) {
  std::vector<Coverages> coverages(std::size(kSubsets));
  std::vector<std::size_t> places(kAllRounds);
  std::iota(places.begin(), places.end(), std::size_t{0});
  for (int i = 0; i < kNoisyRuns; ++i) {
    test::SimulatedRun machine(disturbance, kAllRounds, static_cast<std::uint64_t>(1000 + i));
    std::vector<results::TrialRecord> trials;
    for (int plan = 0; plan < 6; ++plan) {
      trials.push_back(machine.measure("plan", 10 + 3 * plan, 100 + 10 * plan));
    }
    for (std::size_t k = 0; k < std::size(kSubsets); ++k) {
      const std::size_t rounds = kSubsets[k];
      count_case(trials, 0, places, rounds, rounds, coverages[k].alike);
      count_case(trials, 0, places, rounds, std::max<std::size_t>(rounds, 4), coverages[k].among);
    }
  }
  return coverages;
}

void expect_coverage(const test::Coverage& coverage, const std::string& where) {
  EXPECT_GE(coverage.latency, kNoisyRuns * 90 / 100) << where;
  EXPECT_GE(coverage.throughput, kNoisyRuns * 90 / 100) << where;
}

/// A machine with its drift from round to round, noise of a plan in a round, and requests.
struct Case {
  const char* name;
  test::Disturbance disturbance;
};

class Intervals : public testing::TestWithParam<Case> {};

TEST_P(Intervals, HoldTheMedianOfThirtyRoundsAndNarrowWithRounds) {
  const std::vector<Coverages> coverages = coverages_of(GetParam().disturbance);
  for (std::size_t k = 0; k < coverages.size(); ++k) {
    const auto& [alike, among] = coverages[k];
    expect_coverage(alike, fmt::format("{} rounds", kSubsets[k]));
    expect_coverage(among, fmt::format("{} rounds among others of more", kSubsets[k]));
    if (k == 0) continue;
    EXPECT_LT(median(alike.latency_widths), median(coverages[k - 1].alike.latency_widths));
    EXPECT_LT(median(among.latency_widths), median(coverages[k - 1].among.latency_widths));
    EXPECT_LT(median(alike.throughput_widths), median(coverages[k - 1].alike.throughput_widths));
    EXPECT_LT(median(among.throughput_widths), median(coverages[k - 1].among.throughput_widths));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Machines, Intervals,
    testing::Values(
        Case{"quiet", {.drift = 0.005, .unit = 0.004, .noise = 0.02}}, Case{"usual", {}},
        Case{"drifting", {.drift = 0.1, .unit = 0.03}},
        Case{"busy",
             {.drift = 0.12, .unit = 0.08, .noise = 0.3, .correlation = 0.85, .outliers = 0.15}}),
    [](const auto& machine) { return std::string(machine.param.name); });

}  // namespace
}  // namespace pareto::statistics
