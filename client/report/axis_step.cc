#include "client/report/axis_step.h"

#include <algorithm>
#include <cmath>

namespace pareto::report {

double axis_step(double range, double steps) {
  const double rough = std::max(range, 1e-6) / steps;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

}  // namespace pareto::report
