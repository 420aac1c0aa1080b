// Student's t distribution: how far a mean of few figures may lie from the truth when its spread is
// known from those few alone.
#pragma once

namespace pareto::statistics {

/// Returns P(T <= t) for `degrees` of freedom > 0, not necessarily whole (Welch's are not).
double student_probability(double t, double degrees);

/// Returns the t below which lies a share `probability` in (0, 1): 12.71 for 0.975 and one degree,
/// 1.96 for very many. By bisection on student_probability, to 1e-9 of itself.
double student_quantile(double probability, double degrees);

}  // namespace pareto::statistics
