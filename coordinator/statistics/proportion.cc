#include "coordinator/statistics/proportion.h"

#include "coordinator/statistics/incomplete_beta.h"

namespace pareto::statistics {
namespace {

constexpr double kTail = 0.025;

/// Returns the x at which I_x(a, b) is `probability`, by bisection.
double beta_quantile(double probability, double a, double b) {
  constexpr int kHalvings = 60;
  double low = 0;
  double high = 1;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (incomplete_beta(middle, a, b) < probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

results::Interval exact_interval(const Proportion& proportion) {
  const auto count = static_cast<double>(proportion.count);
  const auto rest = static_cast<double>(proportion.of - proportion.count);
  results::Interval interval{0, 1};
  if (proportion.count > 0) interval.low = beta_quantile(kTail, count, rest + 1);
  if (proportion.count < proportion.of) interval.high = beta_quantile(1 - kTail, count + 1, rest);
  return interval;
}

}  // namespace pareto::statistics
