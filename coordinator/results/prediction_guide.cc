#include "coordinator/results/prediction_guide.h"

#include <algorithm>
#include <cstddef>

namespace pareto::results {
namespace {

struct Orders {
  PredictedOrder latency;
  PredictedOrder throughput;

  bool are_broken() const { return latency.is_broken() || throughput.is_broken(); }
  bool are_known() const { return latency.is_known() && throughput.is_known(); }
};

/// Returns what was measured of a trial, latency and throughput; 0 means that it was not.
std::pair<double, double> measured_of(const TrialRecord& trial, bool raced) {
  if (raced) return {trial.prediction->seen_latency_ms, trial.prediction->seen_samples_per_s};
  if (trial.latency.samples == 0) return {0, 0};
  return {trial.latency.measured_p50_ms, trial.throughput.measured_per_s};
}

}  // namespace

std::vector<PredictionGuide> prediction_guides(std::span<const PredictedGroup> groups) {
  std::vector<Orders> orders;
  Orders all;
  for (const PredictedGroup& group : groups) {
    orders.push_back({predicted_order(group.latency), predicted_order(group.throughput)});
    all.latency += orders.back().latency;
    all.throughput += orders.back().throughput;
  }
  std::vector<PredictionGuide> guides;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const bool is_trusted = !groups[i].doubted || orders[i].are_known();
    guides.push_back({is_trusted && !orders[i].are_broken() && !all.are_broken(),
                      orders[i].latency.is_broken(), orders[i].throughput.is_broken()});
  }
  return guides;
}

std::map<GroupKey, PredictionGuide> prediction_guides(const std::vector<TrialRecord>& trials) {
  const bool raced = std::ranges::any_of(trials, [](const TrialRecord& trial) {
    return trial.prediction && trial.prediction->seen_latency_ms > 0;
  });
  std::map<GroupKey, std::size_t> places;
  std::vector<PredictedGroup> groups;
  for (const TrialRecord& trial : trials) {
    if (!trial.prediction || trial.status != TrialStatus::kOk) continue;
    const auto place = places.try_emplace({trial.batch, trial.condition}, groups.size());
    PredictedGroup& group = place.second ? groups.emplace_back() : groups[place.first->second];
    group.doubted = group.doubted || trial.prediction->doubted;
    const auto [latency_ms, samples_per_s] = measured_of(trial, raced);
    if (latency_ms <= 0 || samples_per_s <= 0) continue;
    group.latency.push_back({trial.prediction->latency_ms, latency_ms});
    group.throughput.push_back({trial.prediction->samples_per_s, samples_per_s});
  }
  const std::vector<PredictionGuide> guides = prediction_guides(groups);
  std::map<GroupKey, PredictionGuide> by_key;
  for (const auto& [key, place] : places) by_key[key] = guides[place];
  return by_key;
}

bool is_predicted_only(const TrialRecord& trial) {
  return trial.status == TrialStatus::kOk && trial.latency.samples == 0 && trial.prediction;
}

void unsettle_unguided(std::vector<TrialRecord>& trials) {
  const std::map<GroupKey, PredictionGuide> guides = prediction_guides(trials);
  for (TrialRecord& trial : trials) {
    if (!is_predicted_only(trial)) continue;
    if (!guides.at({trial.batch, trial.condition}).guides) trial.p_front = kUnsettled;
  }
}

}  // namespace pareto::results
