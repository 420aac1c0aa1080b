#include "coordinator/statistics/pass_effects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "coordinator/statistics/cholesky.h"

namespace pareto::statistics {
namespace {

TEST(Cholesky, SolvesWhatItFactorized) {
  Matrix matrix(3);
  const double cells[3][3] = {{4, 2, 1}, {2, 5, 3}, {1, 3, 6}};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) matrix(i, j) = cells[i][j];
  }
  factorize(matrix);
  EXPECT_NEAR(log_determinant(matrix), std::log(67), 1e-12);
  const std::vector<double> x = solve(matrix, std::vector<double>{9, 13, 17});
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(cells[i][0] * x[0] + cells[i][1] * x[1] + cells[i][2] * x[2], 9 + 4.0 * i, 1e-9);
  }
}

TEST(Cholesky, RowsThatSayTheSameAreNoError) {
  Matrix matrix(2);
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 2; ++j) matrix(i, j) = 1;
  }
  factorize(matrix);
  for (const double x : solve(matrix, std::vector<double>{1, 1})) EXPECT_TRUE(std::isfinite(x));
}

TEST(PassEffects, PlansOfASlowPassAreNotSlowPlans) {
  // Plan 0 is measured in both passes, 1 in the first alone, 2 in the second, which was 10 %
  // slower, with three more that agree.
  std::vector<PassObservation> seen{
      {0, 0, 0, 1.0, 0}, {0, 0, 1, 1.1, 0}, {1, 0, 0, 2.0, 0}, {2, 0, 1, 2.1, 0}};
  for (std::size_t plan = 3; plan < 9; ++plan) {
    seen.push_back({plan, 0, 0, 1.0, 0});
    seen.push_back({plan, 0, 1, 1.1, 0});
  }
  const auto plans = estimate_plans(seen).plans;
  ASSERT_EQ(plans.size(), 9U);
  EXPECT_NEAR(plans[1].logarithm, plans[2].logarithm, 0.02);
  EXPECT_NEAR(plans[1].logarithm - plans[0].logarithm, 1, 0.02);
}

TEST(PassEffects, AnotherGroupsPassSaysNothing) {
  std::vector<PassObservation> seen;
  for (std::size_t plan = 0; plan < 6; ++plan) {
    seen.push_back({plan, 0, 0, 1.0, 0});
    seen.push_back({plan, 0, 1, 1.2, 0});
  }
  seen.push_back({6, 1, 1, 3.0, 0});
  EXPECT_NEAR(estimate_plans(seen).plans.back().logarithm, 3, 1e-9);
}

TEST(PassEffects, ADisturbedRoundWeighsLess) {
  std::vector<PassObservation> seen;
  for (std::size_t plan = 0; plan < 8; ++plan) {
    for (int pass = 0; pass < 4; ++pass) {
      const bool disturbed = plan == 0 && pass == 3;
      seen.push_back({plan, 0, pass, disturbed ? 0.5 : 0.001 * (pass % 2), 0.002});
    }
  }
  const auto plans = estimate_plans(seen).plans;
  EXPECT_LT(plans[0].logarithm, 0.08) << "the mean is 0.125";
  EXPECT_GT(plans[0].variance, plans[1].variance);
}

TEST(PassEffects, MoreRoundsAreSurer) {
  std::vector<PassObservation> seen;
  for (int pass = 0; pass < 6; ++pass) {
    for (std::size_t plan = 0; plan < 5; ++plan) {
      if (plan == 0 && pass > 0) continue;
      seen.push_back({plan, 0, pass, 0.01 * ((pass + static_cast<int>(plan)) % 3), 0});
    }
  }
  const auto plans = estimate_plans(seen).plans;
  EXPECT_GT(plans[0].variance, 2 * plans[1].variance);
}

TEST(PassEffects, RoundsOfOneLoadingNeverTellWhatItMadeOfShards) {
  std::vector<PassObservation> seen;
  for (int pass = 0; pass < 100; ++pass) {
    for (std::size_t plan = 0; plan < 4; ++plan) {
      const double noise = 1e-4 * ((pass + static_cast<int>(plan)) % 3);
      seen.push_back({plan, 0, pass, noise, 0, plan == 0 ? pass : 0});
    }
  }
  const auto plans = estimate_plans(seen).plans;
  EXPECT_GT(plans[1].variance, 0.003 * 0.003);
  EXPECT_LT(plans[0].variance, 0.001 * 0.001) << "a hundred loadings are one each";
}

TEST(PassEffects, HowMuchRoundsDifferIsLearntFromFewThatWereRepeated) {
  std::vector<PassObservation> seen;
  const auto of_plan = [](std::size_t plan) { return 1.0 + 0.1 * static_cast<double>(plan); };
  for (std::size_t plan = 0; plan < 20; ++plan) seen.push_back({plan, 0, 0, of_plan(plan), 0});
  for (std::size_t plan = 0; plan < 4; ++plan) {
    seen.push_back({plan, 0, 1, of_plan(plan) + (plan % 2 == 0 ? 0.2 : -0.2), 0});
  }
  const PassEstimates estimates = estimate_plans(seen);
  // Two rounds that differ by 0.2 are each 0.14 off what they have in common.
  EXPECT_GT(estimates.round_variance(0), 0.07 * 0.07);
  EXPECT_GT(estimates.plans.back().variance, 0.07 * 0.07) << "of a plan that was measured once";
  EXPECT_LT(estimates.round_variance(1), 0.02 * 0.02) << "of a group without rounds";
}

}  // namespace
}  // namespace pareto::statistics
