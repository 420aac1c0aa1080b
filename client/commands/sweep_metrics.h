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

namespace pareto::client::commands {

/// The last known progress of a sweep, as families of metrics.
///
/// Threads: begin() and show() from the sweep's, collect() from any.
class SweepMetrics {
 public:
  /// Begins before the first show(), and again if predicting came first.
  void begin(const results::RunRecord& run);
  /// Records how much is done of what comes before anything is measured.
  void predict(std::size_t done, std::size_t total);
  void show(const sweep::SweepProgress& progress);
  /// Collects the families; before begin() those of the process only.
  metrics::Families collect() const;

 private:
  mutable std::mutex mutex_;
  metrics::Labels run_;                     ///< empty: it has not begun
  std::map<std::string, bool> conditions_;  ///< conditions of its trials; whether one is in hand
  std::optional<double> predicted_;         ///< 0 to 1; no value means nothing has to be predicted
  sweep::SweepProgress progress_;
};

}  // namespace pareto::client::commands
