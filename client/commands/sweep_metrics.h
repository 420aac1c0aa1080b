// A sweep's progress for Prometheus, while it runs: names in daemon/metrics/METRICS.md.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "coordinator/results/record.h"
#include "coordinator/sweep/sweep.h"
#include "core/metrics/metric.h"

namespace pareto::client {

/// Threads: begin() and show() from the sweep's, collect() from any.
class SweepMetrics {
 public:
  /// Before the first show(), and again where predicting came first.
  void begin(const results::RunRecord& run);
  /// So much is done of what comes before anything is measured.
  void predict(std::size_t done, std::size_t total);
  void show(const sweep::SweepProgress& progress);
  /// Of the process alone before begin().
  metrics::Families collect() const;

 private:
  mutable std::mutex mutex_;
  metrics::Labels run_;                     ///< empty: it has not begun
  std::map<std::string, bool> conditions_;  ///< of its trials; whether one is in hand
  std::optional<double> predicted_;         ///< 0 to 1; none: nothing has to be
  sweep::SweepProgress progress_;
};

}  // namespace pareto::client
