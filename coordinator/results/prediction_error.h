// Error of the cost model's predictions against the measurements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/results/record.h"

namespace pareto::results {

/// The errors of one figure over several trials.
struct FigureError {
  double median = 0;  ///< median of |predicted / measured - 1|
  double p95 = 0;
  double bias = 0;  ///< the median of predicted / measured - 1
  /// The distance between the measurements of two rounds of a trial, as a share: the median. Trials
  /// that were measured no further apart are equal. It is kEqual at least, and if there is one
  /// round of each.
  double resolution = 0;
  double kendall_tau = 0;  ///< correlation as kendall_tau() computes it, with that resolution
  /// The same of trials that were measured more than kFrontTolerance apart.
  double kendall_tau_apart = 0;
  bool breaks_order = false;  ///< predictions of this figure do not guide (kept_order.h)
};

/// The errors of the trials of one batch under one condition that have both figures.
struct PredictionError {
  std::int64_t batch = 1;
  std::string condition;
  FigureError latency;     ///< error of the p50 at window 1
  FigureError throughput;  ///< samples/s
  std::size_t trials = 0;
  /// Predictions say nothing of a trial that was not measured (prediction_guide.h).
  bool no_guide = false;
};

/// Returns one error for each batch and condition, in order, that has a trial with a prediction and
/// a measurement.
std::vector<PredictionError> prediction_errors(const RunRecord& run);

/// Figures that differ by less than this share are equal: so much a few bytes of a message make,
/// which nobody can measure.
inline constexpr double kEqual = 1e-4;

/// Returns how far two positive figures put the same things into the same order, -1 to 1. This is
/// tau-b (Kendall, Biometrika 33, 1945), which allows for equal figures. First figures are equal up
/// to kEqual, second ones up to `resolution`. Returns 0 if all of either are equal. Pairs whose
/// second figures differ by no more than the share `apart` are not compared.
double kendall_tau(const std::vector<std::pair<double, double>>& pairs, double resolution = kEqual,
                   double apart = 0);

}  // namespace pareto::results
