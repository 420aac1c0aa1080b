#include "coordinator/statistics/front_draws.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/statistics/front_of.h"

namespace pareto::statistics {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr int kDraws = 500;

/// Logarithms that are all as uncertain, and share so much of the variance.
JointFigures figures(const std::vector<double>& means, double variance, double shared) {
  JointFigures joint{means, Matrix(means.size())};
  for (std::size_t i = 0; i < means.size(); ++i) {
    for (std::size_t j = 0; j < means.size(); ++j) {
      joint.covariance(i, j) = i == j ? variance : shared * variance;
    }
  }
  return joint;
}

TEST(FrontOf, IsWhoeverIsMoreProductiveThanAllThatAreFaster) {
  const std::vector<double> throughputs{5, 2, 7, 7, 9, 1};
  const auto throughput = [&](std::size_t i) { return throughputs[i]; };
  EXPECT_THAT(front_of({1, 0, 2, 3, 5, 4}, throughput), ElementsAre(1, 0, 2, 4));
  EXPECT_THAT(front_of({}, throughput), IsEmpty());
}

TEST(FrontDraws, OfWhatIsCertainAreThatFrontEveryTime) {
  const auto plans =
      draw_fronts(figures({0, 1, 2}, 1e-12, 0), figures({1, 0, 3}, 1e-12, 0), kDraws, 1);
  EXPECT_EQ(plans[0].unbeaten, kDraws);
  EXPECT_EQ(plans[1].unbeaten, 0);
  EXPECT_EQ(plans[2].unbeaten, kDraws);
  EXPECT_THAT(plans[0].beaten_by, IsEmpty());
  EXPECT_THAT(plans[1].beaten_by, ElementsAre(Pair(0, kDraws)));
  // Between the two lie 2 of either logarithm, and 0.1 is what an end counts beyond them.
  EXPECT_NEAR(plans[0].area / kDraws, 2 * 0.1, 1e-3);
  EXPECT_EQ(plans[1].area, 0);
  EXPECT_NEAR(plans[2].area / kDraws, 0.1 * 2, 1e-3);
}

TEST(FrontDraws, WhatPlansShareDecidesNothingBetweenThem) {
  const auto alike = figures({0, 0}, 0.01, 1);
  for (const DrawnPlan& plan : draw_fronts(alike, alike, kDraws, 2)) {
    EXPECT_EQ(plan.unbeaten, kDraws);
  }
  const auto apart = figures({0, 0}, 0.01, 0);
  const auto plans = draw_fronts(apart, apart, kDraws, 2);
  for (std::size_t i = 0; i < 2; ++i) {
    // In more than the quarter of draws that it would be were the errors of the two figures
    // unrelated.
    EXPECT_LT(plans[i].unbeaten, kDraws * 3 / 4);
    EXPECT_GT(plans[i].unbeaten, kDraws / 2);
    EXPECT_THAT(plans[i].beaten_by, ElementsAre(Pair(1 - i, kDraws - plans[i].unbeaten)));
  }
}

TEST(FrontDraws, AreTheSameForTheSameSeed) {
  const auto unsure = figures({0, 0.05, 0.1}, 0.01, 0.3);
  const auto unbeaten = [&](std::uint64_t seed) {
    std::vector<int> counts;
    for (const DrawnPlan& plan : draw_fronts(unsure, unsure, kDraws, seed)) {
      counts.push_back(plan.unbeaten);
    }
    return counts;
  };
  EXPECT_EQ(unbeaten(3), unbeaten(3));
  EXPECT_NE(unbeaten(3), unbeaten(4));
}

}  // namespace
}  // namespace pareto::statistics
