// The square of a number, as sums of squares are written.
#pragma once

namespace pareto::statistics {

constexpr double squared(double x) { return x * x; }

}  // namespace pareto::statistics
