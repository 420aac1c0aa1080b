#include "client/results/prediction_error.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace pareto::client {
namespace {

/// The smallest that so many of them do not exceed.
double share_within(std::vector<double> errors, double share) {
  std::ranges::sort(errors);
  const auto count =
      static_cast<std::size_t>(std::ceil(share * static_cast<double>(errors.size())));
  return errors[std::max<std::size_t>(count, 1) - 1];
}

}  // namespace

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
