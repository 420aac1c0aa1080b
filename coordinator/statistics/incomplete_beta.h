// The regularised incomplete beta function, from which follow Student's t and the binomial
// distribution.
#pragma once

namespace pareto::statistics {

/// Returns I_x(a, b), for a and b above 0; x outside of 0 to 1 is taken for the nearer end.
double incomplete_beta(double x, double a, double b);

}  // namespace pareto::statistics
