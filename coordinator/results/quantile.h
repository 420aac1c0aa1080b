// A quantile that may lie between two samples: the percentiles of a trial's latency.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace pareto::results {

/// Returns the quantile of ascending samples, interpolated; q from 0 to 1. 0 if there are none.
inline double quantile_of_sorted(std::span<const double> sorted, double q) {
  if (sorted.empty()) return 0;
  const double place = std::clamp(q, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

/// Returns the same of samples in any order.
inline double quantile(std::span<const double> samples, double q) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  return quantile_of_sorted(sorted, q);
}

}  // namespace pareto::results
