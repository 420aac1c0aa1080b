// A quantile that is one of the figures: what a report says of many.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace pareto::results {

/// Returns the smallest of them that this share does not exceed (nearest rank). At least one
/// figure.
inline double share_within(std::vector<double> figures, double share) {
  std::ranges::sort(figures);
  const auto count =
      static_cast<std::size_t>(std::ceil(share * static_cast<double>(figures.size())));
  return figures[std::max<std::size_t>(count, 1) - 1];
}

}  // namespace pareto::results
