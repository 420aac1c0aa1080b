#include "coordinator/statistics/cholesky.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pareto::statistics {
namespace {

constexpr double kSmallestPivot = 1e-12;

double dot(std::span<const double> a, std::span<const double> b, std::size_t count) {
  return std::inner_product(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(count), b.begin(),
                            0.0);
}

}  // namespace

void factorize(Matrix& matrix) {
  double largest = 0;
  for (std::size_t i = 0; i < matrix.size(); ++i) largest = std::max(largest, matrix(i, i));
  const double least = std::max(largest * kSmallestPivot, 1e-300);
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      matrix(i, j) = (matrix(i, j) - dot(matrix.row(i), matrix.row(j), j)) / matrix(j, j);
    }
    const double pivot = matrix(i, i) - dot(matrix.row(i), matrix.row(i), i);
    matrix(i, i) = std::sqrt(std::max(pivot, least));
  }
}

std::vector<double> solve_lower(const Matrix& factor, std::span<const double> b) {
  std::vector<double> x(b.begin(), b.end());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = (x[i] - dot(factor.row(i), x, i)) / factor(i, i);
  }
  return x;
}

std::vector<double> solve(const Matrix& factor, std::span<const double> b) {
  std::vector<double> x = solve_lower(factor, b);
  for (std::size_t i = x.size(); i-- > 0;) {
    x[i] /= factor(i, i);
    for (std::size_t j = 0; j < i; ++j) x[j] -= factor(i, j) * x[i];
  }
  return x;
}

double log_determinant(const Matrix& factor) {
  double sum = 0;
  for (std::size_t i = 0; i < factor.size(); ++i) sum += std::log(factor(i, i));
  return 2 * sum;
}

}  // namespace pareto::statistics
