#include "coordinator/statistics/residual_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace pareto::statistics {
namespace {

/// Returns the plans along a cut, all predicted at 1 (logarithm 0).
std::vector<PriorFigure> along_a_cut(std::size_t count, int groups = 1) {
  std::vector<PriorFigure> plans;
  for (int group = 0; group < groups; ++group) {
    for (std::size_t i = 0; i < count; ++i) {
      plans.push_back(
          {group, {2.0 * static_cast<double>(i) / static_cast<double>(count)}, 0, 0, 1});
    }
  }
  return plans;
}

double wrong_by(double place) { return 0.08 + 0.05 * std::sin(3 * place); }

TEST(ResidualModel, WithoutMeasurementsAPredictionIsGoodToAboutTenPercent) {
  const auto plans = along_a_cut(3);
  const ResidualModel model(plans, {});
  EXPECT_EQ(model.figure(1).logarithm, 0);
  EXPECT_NEAR(model.figure(1).deviation, 0.11, 0.03);
}

TEST(ResidualModel, LearnsWherePredictionsAreWrong) {
  const auto plans = along_a_cut(60);
  std::vector<PlanEstimate> measured;
  for (std::size_t i = 0; i < 60; i += 5) {
    measured.push_back({i, wrong_by(plans[i].features[0]), 1e-6});
  }
  const ResidualModel model(plans, measured);
  for (std::size_t i = 0; i < 56; ++i) {
    const auto figure = model.figure(i);
    EXPECT_NEAR(figure.logarithm, wrong_by(plans[i].features[0]), 0.01) << i;
    EXPECT_LT(figure.deviation, 0.03);
  }
  EXPECT_LT(model.figure(5).deviation, 0.002) << "it was measured";
}

TEST(ResidualModel, ABiasIsSharedByGroupsThatWereNotMeasured) {
  const auto plans = along_a_cut(20, 2);
  std::vector<PlanEstimate> measured;
  for (std::size_t i = 0; i < 20; i += 2) measured.push_back({i, 0.2, 1e-6});
  const ResidualModel model(plans, measured);
  EXPECT_NEAR(model.figure(30).logarithm, 0.2, 0.06);
  EXPECT_GT(model.figure(30).deviation, model.figure(11).deviation);
}

TEST(ResidualModel, WhatDevicesTakeSaysLittleWhereTheNetworkIsAllThatCounts) {
  auto plans = along_a_cut(20, 2);
  for (std::size_t i = 20; i < 40; ++i) plans[i].compute_share = 0.05;
  std::vector<PlanEstimate> measured;
  for (std::size_t i = 0; i < 20; i += 2) measured.push_back({i, 0.4, 1e-6});
  const auto over_network = ResidualModel(plans, measured).figure(30);
  EXPECT_NEAR(over_network.logarithm, 0.05 * 0.4, 0.01);
  EXPECT_GT(over_network.deviation, 0.03) << "nothing was seen of the network";
  // … and a network that is slower than was said is slower for all plans of its group, and for no
  // other.
  measured.clear();
  for (std::size_t i = 20; i < 40; i += 2) measured.push_back({i, 0.2, 1e-6});
  const ResidualModel model(plans, measured);
  EXPECT_NEAR(model.figure(31).logarithm, 0.2, 0.02);
  EXPECT_NEAR(model.figure(5).logarithm, 0, 0.06);
}

TEST(ResidualModel, PlansThatErrByThemselvesMakePredictionsLessSure) {
  const auto plans = along_a_cut(60);
  std::vector<PlanEstimate> smooth;
  std::vector<PlanEstimate> rough;
  for (std::size_t i = 0; i < 60; i += 3) {
    smooth.push_back({i, 0.05, 1e-6});
    rough.push_back({i, i % 2 == 0 ? 0.15 : -0.05, 1e-6});
  }
  EXPECT_LT(2 * ResidualModel(plans, smooth).figure(31).deviation,
            ResidualModel(plans, rough).figure(31).deviation);
}

TEST(ResidualModel, JointFiguresAgreeWithSingleOnesAndShareTheBias) {
  const auto plans = along_a_cut(10);
  const ResidualModel model(plans, {{0, 0.1, 1e-4}});
  const std::vector<std::size_t> asked{3, 7};
  const JointFigures joint = model.joint(asked);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_DOUBLE_EQ(joint.means[i], model.figure(asked[i]).logarithm);
    EXPECT_NEAR(std::sqrt(joint.covariance(i, i)), model.figure(asked[i]).deviation, 1e-12);
  }
  EXPECT_GT(joint.covariance(0, 1), 0);
}

TEST(ResidualModel, WhatIsNotPredictedIsKnownByMeasuringItAlone) {
  auto plans = along_a_cut(4);
  plans[2].deviation = 1.5;
  EXPECT_GT(ResidualModel(plans, {{0, 0.1, 1e-4}}).figure(2).deviation, 1);
  const ResidualModel model(plans, {{0, 0.1, 1e-4}, {2, 0.7, 1e-4}});
  EXPECT_NEAR(model.figure(2).logarithm, 0.7, 0.01);
  EXPECT_NEAR(model.figure(1).logarithm, 0.1, 0.04) << "which says nothing of others";
}

}  // namespace
}  // namespace pareto::statistics
