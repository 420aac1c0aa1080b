#include "coordinator/results/prediction_error.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "coordinator/results/prediction_guide.h"
#include "coordinator/results/quantile.h"
#include "coordinator/results/share_within.h"

namespace pareto::results {
namespace {

using Pairs = std::vector<std::pair<double, double>>;  // predicted, measured

/// The repeated measurements of a figure in each round of several trials.
class Repeats {
 public:
  void add(const std::vector<double>& of_rounds) {
    for (std::size_t i = 1; i < of_rounds.size(); ++i) {
      shares_.push_back(std::abs(of_rounds[i] / of_rounds[i - 1] - 1));
    }
  }
  double resolution() const {
    return shares_.empty() ? kEqual : std::max(kEqual, share_within(shares_, 0.5));
  }

 private:
  std::vector<double> shares_;
};

std::vector<double> latencies_of(const TrialRecord& trial) {
  std::vector<double> medians;
  for (const TrialRound& round : trial.rounds) medians.push_back(quantile(round.latency_ms, 0.5));
  return medians;
}

std::vector<double> throughputs_of(const TrialRecord& trial) {
  std::vector<double> rates;
  for (const TrialRound& round : trial.rounds) {
    const double taken = std::accumulate(round.intervals_s.begin(), round.intervals_s.end(), 0.0);
    if (taken > 0) rates.push_back(static_cast<double>(round.intervals_s.size()) / taken);
  }
  return rates;
}

FigureError error_of(const Pairs& pairs, double resolution) {
  std::vector<double> errors;
  std::vector<double> sizes;
  for (const auto& [predicted, measured] : pairs) {
    errors.push_back(predicted / measured - 1);
    sizes.push_back(std::abs(errors.back()));
  }
  return {share_within(sizes, 0.5),       share_within(sizes, 0.95),
          share_within(errors, 0.5),      resolution,
          kendall_tau(pairs, resolution), kendall_tau(pairs, resolution, kFrontTolerance)};
}

}  // namespace

double kendall_tau(const std::vector<std::pair<double, double>>& pairs, double resolution,
                   double apart) {
  const auto order = [](double a, double b, double equal) {
    return (a > b * (1 + equal)) - (b > a * (1 + equal));
  };
  double agreeing = 0;
  double apart_in_first = 0;
  double apart_in_second = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const int first = order(pairs[i].first, pairs[j].first, kEqual);
      const auto [low, high] = std::minmax(pairs[i].second, pairs[j].second);
      if (apart > 0 && high <= low * (1 + apart)) continue;
      const int second = order(pairs[i].second, pairs[j].second, resolution);
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
    Repeats latencies;
    Repeats throughputs;
  };
  std::map<GroupKey, Group> groups;
  for (const TrialRecord& trial : run.trials) {
    if (!trial.prediction || trial.status != TrialStatus::kOk || trial.latency.samples == 0) {
      continue;
    }
    Group& group = groups[{trial.batch, trial.condition}];
    group.latency.emplace_back(trial.prediction->latency_ms, trial.latency.measured_p50_ms);
    group.throughput.emplace_back(trial.prediction->samples_per_s, trial.throughput.measured_per_s);
    group.latencies.add(latencies_of(trial));
    group.throughputs.add(throughputs_of(trial));
  }
  const std::map<GroupKey, PredictionGuide> guides = prediction_guides(run.trials);
  std::vector<PredictionError> errors;
  for (const auto& [key, group] : groups) {
    const PredictionGuide& guide = guides.at(key);
    errors.push_back({key.first, key.second, error_of(group.latency, group.latencies.resolution()),
                      error_of(group.throughput, group.throughputs.resolution()),
                      group.latency.size(), !guide.guides});
    errors.back().latency.breaks_order = guide.breaks_latencies;
    errors.back().throughput.breaks_order = guide.breaks_throughputs;
  }
  return errors;
}

}  // namespace pareto::results
