#include "client/experiment/statistics_rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "client/experiment/statistics_student.h"
#include "tests/support/simulated_rounds.h"

namespace pareto::client {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TEST(StudentsT, IsAsInPrintedTables) {
  EXPECT_NEAR(student_quantile(0.975, 1), 12.7062, 1e-4);
  EXPECT_NEAR(student_quantile(0.975, 2), 4.3027, 1e-4);
  EXPECT_NEAR(student_quantile(0.95, 4), 2.1318, 1e-4);
  EXPECT_NEAR(student_quantile(0.025, 30), -2.0423, 1e-4);
  EXPECT_NEAR(student_quantile(0.975, 1e6), 1.95997, 1e-4);
  EXPECT_NEAR(student_quantile(0.5, 3), 0, 1e-6);
  EXPECT_NEAR(student_probability(2, 2), 0.90825, 1e-5);
  for (const double degrees : {0.7, 1.0, 2.4, 9.0, 250.0}) {
    for (const double t : {-7.0, -0.3, 0.0, 1.1, 40.0}) {
      EXPECT_NEAR(student_probability(t, degrees) + student_probability(-t, degrees), 1, 1e-12);
    }
  }
}

TEST(RoundFigures, AreLogarithmsWithTheErrorOfTheirSamples) {
  std::vector<TrialRound> rounds(3);
  rounds[0].latency_ms = {9, 10, 11, 10, 9, 11};
  rounds[0].intervals_s = {0.5, 0.5};
  rounds[1].round = 2;
  rounds[1].latency_ms = {20, 20, 20};
  const auto latency = latency_figures(rounds);
  ASSERT_THAT(latency, SizeIs(2));
  EXPECT_DOUBLE_EQ(latency[0].logarithm, std::log(10));
  EXPECT_GT(latency[0].error, 0);
  EXPECT_LT(latency[0].error, 0.1);
  EXPECT_EQ(latency[1].round, 2);
  EXPECT_NEAR(latency[1].error, 0, 1e-9);
  const auto throughput = throughput_figures(rounds, 8);
  ASSERT_THAT(throughput, SizeIs(1));
  EXPECT_DOUBLE_EQ(throughput[0].logarithm, std::log(16));
  EXPECT_THAT(latency_figures({}), IsEmpty());
}

TEST(FigureInterval, IsAFactorUpAndDown) {
  const std::vector<RoundFigure> rounds{{0, 0.1, 0.01}, {1, 0.2, 0.01}, {2, 0.3, 0.01}};
  const double half = 4.30265 * 0.1 / std::sqrt(3);
  EXPECT_NEAR(figure_interval(5, rounds).low, 5 * std::exp(-half), 1e-4);
  EXPECT_NEAR(figure_interval(5, rounds).high, 5 * std::exp(half), 1e-4);
  // Of one round what its samples say.
  const Interval one = figure_interval(5, std::span(rounds).first(1));
  EXPECT_NEAR(one.high, 5 * std::exp(1.95996 * 0.01), 1e-4);
  EXPECT_DOUBLE_EQ(figure_interval(5, {}).low, 5);
}

TEST(FigureInterval, HoldsTheTruthNineteenTimesInTwenty) {
  for (const int rounds : {2, 3, 5}) {
    for (const double correlation : {0.3, 0.85}) {
      int held = 0;
      constexpr int kTries = 150;
      for (int i = 0; i < kTries; ++i) {
        const test::Disturbance disturbance{.correlation = correlation};
        const TrialRecord trial =
            test::SimulatedRun(disturbance, rounds, static_cast<std::uint64_t>(70 + i))
                .measure("a", 10, 100);
        const auto figures = latency_figures(trial.rounds);
        const double printed = std::exp(estimate_mean(logarithms(figures)).logarithm);
        const Interval interval = figure_interval(printed, figures);
        held += interval.low <= 10 && interval.high >= 10 ? 1 : 0;
      }
      EXPECT_GE(held, kTries * 92 / 100) << rounds << " rounds, correlation " << correlation;
    }
  }
}

}  // namespace
}  // namespace pareto::client
