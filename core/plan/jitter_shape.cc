#include "core/plan/jitter_shape.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pareto::plan {

double shaped_deviate(JitterShape shape, double deviate) {
  if (shape == JitterShape::kNormal) return deviate;
  const double share = 0.5 * std::erfc(-deviate / std::numbers::sqrt2);
  if (shape == JitterShape::kUniform) return (2 * share - 1) * std::numbers::sqrt3;
  // Pareto of index 3 from 1 on, cut off at 10: without that its deviation would be made of packets
  // that hardly ever come.
  constexpr double kMost = 10;
  constexpr double kMean = 1 + (1 - 1 / (kMost * kMost)) / 2;
  constexpr double kMeanSquare = 1 + 2 * (1 - 1 / kMost);
  const double number = std::min(std::cbrt(1 / std::max(1 - share, 1e-12)), kMost);
  return (number - kMean) / std::sqrt(kMeanSquare - kMean * kMean);
}

}  // namespace pareto::plan
