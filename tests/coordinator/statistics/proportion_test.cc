#include "coordinator/statistics/proportion.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pareto::statistics {
namespace {

void expect_interval(std::int64_t count, std::int64_t of, double low, double high) {
  SCOPED_TRACE(std::to_string(count) + " of " + std::to_string(of));
  const results::Interval found = exact_interval({count, of});
  EXPECT_NEAR(found.low, low, 5e-5);
  EXPECT_NEAR(found.high, high, 5e-5);
}

TEST(Proportion, IntervalsAreThoseOfTables) {
  expect_interval(0, 10, 0, 0.3085);
  expect_interval(1, 10, 0.0025, 0.4450);
  expect_interval(5, 10, 0.1871, 0.8129);
  expect_interval(10, 10, 0.6915, 1);
  expect_interval(0, 1, 0, 0.975);
  expect_interval(0, 0, 0, 1);
}

/// Returns the probability of at least `count` of `of`, summed term by term.
double at_least(std::int64_t count, std::int64_t of, double share) {
  double sum = 0;
  for (std::int64_t i = count; i <= of; ++i) {
    const auto k = static_cast<double>(i);
    const auto n = static_cast<double>(of);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                    k * std::log(share) + (n - k) * std::log1p(-share));
  }
  return sum;
}

TEST(Proportion, EachEndLeavesATailOfAFortieth) {
  for (const auto& [count, of] : {std::pair<std::int64_t, std::int64_t>{3, 7},
                                  {180, 200},
                                  {34'880, 50'000},
                                  {1'000'000, 1'281'167}}) {
    SCOPED_TRACE(of);
    const results::Interval found = exact_interval({count, of});
    EXPECT_NEAR(at_least(count, of, found.low), 0.025, 1e-5);
    EXPECT_NEAR(1 - at_least(count + 1, of, found.high), 0.025, 1e-5);
    EXPECT_LT(found.low, Proportion({count, of}).share());
    EXPECT_GT(found.high, Proportion({count, of}).share());
  }
}

}  // namespace
}  // namespace pareto::statistics
