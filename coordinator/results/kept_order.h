// Counts of plans that stand, once measured, in the order that predictions put them into.
#pragma once

#include <cstddef>
#include <span>

#include "coordinator/results/record.h"

namespace pareto::results {

/// The ratio of two predicted figures from which on they are far apart: their order is expected.
inline constexpr double kFarApart = 1.25;
/// The least correlation of orders, of plans far apart, at which predictions guide.
inline constexpr double kLeastOrder = 0.8;

/// A figure of a plan, as predicted and as measured. Both are positive.
struct PredictedFigure {
  double predicted = 0;
  double measured = 0;
};

/// Pairs of plans, by whether they stand in the order of their predictions.
struct KeptOrder {
  std::size_t kept = 0;
  std::size_t broken = 0;

  std::size_t pairs() const { return kept + broken; }
  /// Returns Kendall's tau of the pairs. At least one.
  double tau() const {
    return (static_cast<double>(kept) - static_cast<double>(broken)) / static_cast<double>(pairs());
  }
  KeptOrder& operator+=(const KeptOrder& more) {
    kept += more.kept;
    broken += more.broken;
    return *this;
  }
};

/// The order of one figure. An error that plans have in common breaks no order.
struct PredictedOrder {
  KeptOrder far;   ///< pairs that predictions set far apart
  KeptOrder told;  ///< pairs that predictions and measurements tell apart: kFrontTolerance and more

  PredictedOrder& operator+=(const PredictedOrder& more) {
    far += more.far;
    told += more.told;
    return *this;
  }
  /// Returns whether the pairs far apart are enough to tell: fewer are in the wrong order by
  /// chance.
  bool is_known() const { return far.pairs() >= 10; }
  /// Returns whether predictions do not guide: plans that they set far apart did not keep their
  /// order, or the order of all plans, of four at least, is no better than chance.
  bool is_broken() const {
    return (is_known() && far.tau() < kLeastOrder) || (told.pairs() >= 6 && told.tau() <= 0);
  }
};

/// Counts the pairs of these plans.
inline PredictedOrder predicted_order(std::span<const PredictedFigure> figures) {
  const auto is_apart = [](double a, double b, double ratio) {
    return a > b * ratio || b > a * ratio;
  };
  PredictedOrder order;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto [predicted, measured] = figures[i];
      const auto [other_predicted, other_measured] = figures[j];
      const bool kept =
          predicted > other_predicted ? measured > other_measured : measured < other_measured;
      const auto count = [&](KeptOrder& pairs) { ++(kept ? pairs.kept : pairs.broken); };
      if (is_apart(predicted, other_predicted, kFarApart)) count(order.far);
      if (is_apart(predicted, other_predicted, 1 + kFrontTolerance) &&
          is_apart(measured, other_measured, 1 + kFrontTolerance)) {
        count(order.told);
      }
    }
  }
  return order;
}

}  // namespace pareto::results
