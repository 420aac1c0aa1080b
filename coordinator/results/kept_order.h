// A count of plans that predictions set far apart and that stand, once measured, in that order.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace pareto::results {

/// The ratio of two predicted figures from which on they are far apart: their order is expected.
inline constexpr double kFarApart = 1.25;
/// The least correlation of orders at which predictions guide.
inline constexpr double kLeastOrder = 0.8;

/// Pairs of plans that predictions set far apart, by whether they stand in that order. An error
/// that plans have in common breaks no order.
struct KeptOrder {
  std::size_t kept = 0;
  std::size_t broken = 0;

  /// Returns whether these pairs are enough to tell: fewer are in the wrong order by chance.
  bool is_known() const { return kept + broken >= 10; }
  /// Returns Kendall's tau of the pairs. At least one.
  double tau() const {
    return (static_cast<double>(kept) - static_cast<double>(broken)) /
           static_cast<double>(kept + broken);
  }
  /// Returns whether the order is known, and predictions do not guide.
  bool is_broken() const { return is_known() && tau() < kLeastOrder; }
};

/// Counts the pairs. `figures`: what is predicted of each plan and what it was measured to be, both
/// positive.
inline KeptOrder kept_order(std::span<const std::pair<double, double>> figures) {
  KeptOrder order;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double apart = figures[i].first / figures[j].first;
      if (apart < kFarApart && apart * kFarApart > 1) continue;
      const bool kept = (figures[i].second > figures[j].second) == (apart > 1);
      ++(kept ? order.kept : order.broken);
    }
  }
  return order;
}

}  // namespace pareto::results
