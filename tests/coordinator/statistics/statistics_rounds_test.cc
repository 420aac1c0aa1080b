#include "coordinator/statistics/statistics_rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "coordinator/statistics/statistics_student.h"

namespace pareto::statistics {
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
  std::vector<results::TrialRound> rounds(3);
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

}  // namespace
}  // namespace pareto::statistics
