// How far the cost model's predictions were from what was measured.
#pragma once

#include <cstddef>
#include <optional>

#include "client/results/record.h"

namespace pareto::client {

/// Of |predicted / measured - 1| over the trials that have both, as shares.
struct PredictionError {
  double latency_median = 0;
  double latency_p95 = 0;
  double throughput_median = 0;
  double throughput_p95 = 0;
  std::size_t trials = 0;
};

/// None: no trial has both.
std::optional<PredictionError> prediction_error(const RunRecord& run);

}  // namespace pareto::client
