#include "coordinator/results/best_by_network.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "coordinator/results/record_json.h"

namespace pareto::results {
namespace {

/// Rates this near to each other are of one limit as measured; their round trips decide.
constexpr double kSameRate = 1.05;

void consider(const TrialRecord& trial, BestTrials& best) {
  const auto by_latency = [](const TrialRecord& candidate) {
    return std::pair(candidate.latency.p50_ms, -candidate.throughput.samples_per_s);
  };
  const auto by_throughput = [](const TrialRecord& candidate) {
    return std::pair(-candidate.throughput.samples_per_s, candidate.latency.p50_ms);
  };
  if (best.fastest == nullptr || by_latency(trial) < by_latency(*best.fastest)) {
    best.fastest = &trial;
  }
  if (best.most_productive == nullptr ||
      by_throughput(trial) < by_throughput(*best.most_productive)) {
    best.most_productive = &trial;
  }
}

/// Networks from the best to the worst.
std::vector<std::string> ordered(
    const std::map<std::string, std::optional<NetworkFigures>>& conditions) {
  // Rates that count as one get one place in the order: comparing pairs by "nearly equal" would be
  // no order.
  std::vector<double> rates;
  for (const auto& [name, network] : conditions) {
    if (network) rates.push_back(network->forward_mbit_per_s);
  }
  std::ranges::sort(rates, std::greater<>());
  const auto place = [&](double rate) {
    std::size_t result = 0;
    for (std::size_t i = 1; i < rates.size() && rates[i] >= rate; ++i) {
      if (rates[i - 1] > rates[i] * kSameRate) ++result;
    }
    return result;
  };
  const auto key = [&](const auto& entry) {
    const auto& [name, network] = *entry;
    return std::tuple(name != "none", !network.has_value(),
                      network ? place(network->forward_mbit_per_s) : 0,
                      network ? network->round_trip_ms : 0, name);
  };
  std::vector<std::map<std::string, std::optional<NetworkFigures>>::const_iterator> entries;
  for (auto entry = conditions.begin(); entry != conditions.end(); ++entry) {
    entries.push_back(entry);
  }
  std::ranges::sort(entries, {}, key);
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (const auto& entry : entries) names.push_back(entry->first);
  return names;
}

}  // namespace

std::vector<NetworkBest> best_by_network(const RunRecord& run) {
  std::map<std::string, std::optional<NetworkFigures>> conditions;
  for (const TrialRecord& trial : run.trials) {
    auto& network = conditions[trial.condition];
    if (!network) network = trial.network;
  }
  const std::vector<std::string> names = ordered(conditions);
  std::map<std::pair<std::int64_t, std::ptrdiff_t>, NetworkBest> groups;
  for (const TrialRecord& trial : run.trials) {
    const auto place = std::ranges::find(names, trial.condition) - names.begin();
    NetworkBest& group = groups[{trial.batch, place}];
    if (group.trials++ == 0) {
      group.condition = trial.condition;
      group.batch = trial.batch;
      group.network = conditions.at(trial.condition);
    }
    const std::string status = status_of(trial);
    if (status == "failed") ++group.failed;
    if (status == "skipped") ++group.skipped;
    if (status != "ok") continue;
    ++group.measured;
    consider(trial, group.best);
    if (trial.split) {
      consider(trial, group.split);
    } else if (!trial.plan.replicated) {
      consider(trial, group.unsplit);
    }
  }
  std::vector<NetworkBest> result;
  result.reserve(groups.size());
  for (auto& [key, group] : groups) result.push_back(std::move(group));
  return result;
}

}  // namespace pareto::results
