#include "client/results/prediction_error.h"

#include <cmath>
#include <vector>

#include "client/results/share_within.h"

namespace pareto::client {
std::optional<PredictionError> prediction_error(const RunRecord& run) {
  std::vector<double> latency;
  std::vector<double> throughput;
  for (const TrialRecord& trial : run.trials) {
    if (!trial.prediction || trial.status != TrialStatus::kOk || trial.latency.samples == 0) {
      continue;
    }
    latency.push_back(std::abs(trial.prediction->latency_ms / trial.latency.p50_ms - 1));
    throughput.push_back(
        std::abs(trial.prediction->samples_per_s / trial.throughput.samples_per_s - 1));
  }
  if (latency.empty()) return std::nullopt;
  return PredictionError{share_within(latency, 0.5), share_within(latency, 0.95),
                         share_within(throughput, 0.5), share_within(throughput, 0.95),
                         latency.size()};
}

}  // namespace pareto::client
