#include "client/experiment/round_noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "client/experiment/statistics.h"
#include "tests/support/interval_coverage.h"
#include "tests/support/simulated_rounds.h"

namespace pareto::client {
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
  EXPECT_LT(noise.plans[0].left.value, noise.plans[1].left.value);
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
    const Interval interval = interval_about(10, error_of(learn_round_noise(plans, 0), 0));
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

constexpr int kTries = 200;
constexpr int kAllRounds = 30;

/// Of as many runs of six plans as there are tries. `others`: rounds that all plans but the first
/// have.
test::Coverage coverage_of(const test::Disturbance& disturbance, std::size_t rounds,
                           std::size_t others) {
  test::Coverage coverage;
  std::vector<std::size_t> places(kAllRounds);
  std::iota(places.begin(), places.end(), std::size_t{0});
  for (int i = 0; i < kTries; ++i) {
    test::SimulatedRun machine(disturbance, kAllRounds, static_cast<std::uint64_t>(1000 + i));
    std::vector<TrialRecord> trials;
    for (int plan = 0; plan < 6; ++plan) {
      trials.push_back(machine.measure("plan", 10 + 3 * plan, 100 + 10 * plan));
    }
    count_case(trials, 0, places, rounds, others, coverage);
  }
  return coverage;
}

/// A machine with its drift from round to round, noise of a plan in a round, and requests.
struct Case {
  const char* name;
  test::Disturbance disturbance;
};

class Intervals : public testing::TestWithParam<Case> {};

TEST_P(Intervals, HoldTheMedianOfThirtyRoundsAndNarrowWithRounds) {
  for (const bool alike : {true, false}) {
    double last = 1e9;
    for (const std::size_t rounds : {1, 2, 3, 6}) {
      const test::Coverage coverage = coverage_of(
          GetParam().disturbance, rounds, alike ? rounds : std::max<std::size_t>(rounds, 4));
      const std::string where = fmt::format("{} rounds, others {}", rounds, alike ? "too" : "more");
      EXPECT_GE(coverage.latency, kTries * 90 / 100) << where;
      EXPECT_GE(coverage.throughput, kTries * 90 / 100) << where;
      EXPECT_LT(median(coverage.latency_widths), last) << where;
      last = median(coverage.latency_widths);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Machines, Intervals,
    testing::Values(
        Case{"quiet", {.drift = 0.005, .unit = 0.004, .noise = 0.02}}, Case{"usual", {}},
        Case{"drifting", {.drift = 0.08, .unit = 0.03}},
        Case{"busy",
             {.drift = 0.12, .unit = 0.08, .noise = 0.3, .correlation = 0.85, .outliers = 0.15}}),
    [](const auto& machine) { return std::string(machine.param.name); });

}  // namespace
}  // namespace pareto::client
