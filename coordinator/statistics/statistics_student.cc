#include "coordinator/statistics/statistics_student.h"

#include "coordinator/statistics/incomplete_beta.h"

namespace pareto::statistics {

double student_probability(double t, double degrees) {
  const double tail = incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5) / 2;
  return t > 0 ? 1 - tail : tail;
}

double student_quantile(double probability, double degrees) {
  if (probability < 0.5) return -student_quantile(1 - probability, degrees);
  double low = 0;
  double high = 1;
  while (student_probability(high, degrees) < probability) high *= 2;
  while (high - low > 1e-9 * high) {
    const double middle = (low + high) / 2;
    (student_probability(middle, degrees) < probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace pareto::statistics
