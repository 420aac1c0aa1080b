#include "client/results/prediction_error.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "client/results/share_within.h"

namespace pareto::client {
namespace {

using Pairs = std::vector<std::pair<double, double>>;  // predicted, measured

FigureError error_of(const Pairs& pairs) {
  std::vector<double> errors;
  std::vector<double> sizes;
  for (const auto& [predicted, measured] : pairs) {
    errors.push_back(predicted / measured - 1);
    sizes.push_back(std::abs(errors.back()));
  }
  return {share_within(sizes, 0.5), share_within(sizes, 0.95), share_within(errors, 0.5),
          kendall_tau(pairs), kendall_tau(pairs, kFrontTolerance)};
}

}  // namespace

double kendall_tau(const std::vector<std::pair<double, double>>& pairs, double apart) {
  const auto order = [](double a, double b) {
    return (a > b * (1 + kEqual)) - (b > a * (1 + kEqual));
  };
  double agreeing = 0;
  double apart_in_first = 0;
  double apart_in_second = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const int first = order(pairs[i].first, pairs[j].first);
      const auto [low, high] = std::minmax(pairs[i].second, pairs[j].second);
      if (apart > 0 && high <= low * (1 + apart)) continue;
      const int second = order(pairs[i].second, pairs[j].second);
      agreeing += first * second;
      apart_in_first += std::abs(first);
      apart_in_second += std::abs(second);
    }
  }
  const double most = std::sqrt(apart_in_first * apart_in_second);
  return most > 0 ? agreeing / most : 0;
}

std::vector<PredictionError> prediction_errors(const RunRecord& run) {
  struct Group {
    Pairs latency;
    Pairs throughput;
  };
  std::map<std::pair<std::int64_t, std::string>, Group> groups;
  for (const TrialRecord& trial : run.trials) {
    if (!trial.prediction || trial.status != TrialStatus::kOk || trial.latency.samples == 0) {
      continue;
    }
    Group& group = groups[{trial.batch, trial.condition}];
    group.latency.emplace_back(trial.prediction->latency_ms, trial.latency.p50_ms);
    group.throughput.emplace_back(trial.prediction->samples_per_s, trial.throughput.samples_per_s);
  }
  std::vector<PredictionError> errors;
  for (const auto& [key, group] : groups) {
    errors.push_back({key.first, key.second, error_of(group.latency), error_of(group.throughput),
                      group.latency.size()});
  }
  return errors;
}

}  // namespace pareto::client
