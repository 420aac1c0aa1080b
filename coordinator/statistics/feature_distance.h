// How far apart two plans are by their features (residual_model.h).
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace pareto::statistics {

/// Returns the Euclidean distance. Both have as many features.
inline double distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

}  // namespace pareto::statistics
