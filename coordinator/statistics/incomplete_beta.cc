#include "coordinator/statistics/incomplete_beta.h"

#include <algorithm>
#include <cmath>

namespace pareto::statistics {
namespace {

/// Returns the continued fraction of the incomplete beta function (DLMF 8.17.22), from its end:
/// each level is 1 + term / (what follows).
double beta_fraction(double x, double a, double b) {
  // It converges within as many levels as the root of the larger one, and a few; within fewer if
  // the other one is small, as Student's.
  const double most = std::min(a, b) < 1 ? 400 : 4'000;
  const int levels = static_cast<int>(std::min(60 + 10 * std::sqrt(std::max(a, b)), most));
  double value = 1;
  for (int level = levels; level >= 1; --level) {
    const int half = level / 2;
    const double m = half;
    const double term = level % 2 == 0
                            ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                            : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    value = 1 + term / value;
  }
  return 1 / value;
}

}  // namespace

double incomplete_beta(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The fraction converges fast on this side; the other is its mirror image.
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(1 - x, b, a);
  const double scale = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  return scale * beta_fraction(x, a, b) / a;
}

}  // namespace pareto::statistics
