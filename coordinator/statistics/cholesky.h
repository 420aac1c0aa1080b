// Small dense linear algebra for the residual model: a symmetric positive definite matrix as the
// product of a lower triangle and its transpose. Pure; plain loops are fast enough for a few
// hundred rows (500: about 20 ms).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace pareto::statistics {

/// Square, by rows.
class Matrix {
 public:
  explicit Matrix(std::size_t size) : size_(size), cells_(size * size, 0.0) {}
  std::size_t size() const { return size_; }
  double& operator()(std::size_t row, std::size_t column) { return cells_[row * size_ + column]; }
  double operator()(std::size_t row, std::size_t column) const {
    return cells_[row * size_ + column];
  }
  std::span<const double> row(std::size_t index) const {
    return {cells_.data() + index * size_, size_};
  }

 private:
  std::size_t size_;
  std::vector<double> cells_;
};

/// Replaces the matrix, of which the lower triangle is read, by its lower Cholesky factor; what is
/// above the diagonal is left as it is. A pivot that rounding made smaller than 1e-12 of the
/// largest diagonal element counts as that: rows that say the same are no error.
void factorize(Matrix& matrix);

/// Solves L x = b for x.
std::vector<double> solve_lower(const Matrix& factor, std::span<const double> b);
/// Solves L L' x = b for x.
std::vector<double> solve(const Matrix& factor, std::span<const double> b);
/// Returns log |L L'|.
double log_determinant(const Matrix& factor);

}  // namespace pareto::statistics
