#include "client/experiment/front.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "client/experiment/statistics.h"

namespace pareto::client {
namespace {

/// The measured trials of each batch and condition, by their places.
std::vector<std::vector<std::size_t>> measured_groups(const std::vector<TrialRecord>& trials) {
  std::map<std::pair<std::int64_t, std::string>, std::vector<std::size_t>> by_key;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (is_measured(trials[i])) by_key[{trials[i].batch, trials[i].condition}].push_back(i);
  }
  std::vector<std::vector<std::size_t>> groups;
  for (auto& [key, group] : by_key) groups.push_back(std::move(group));
  return groups;
}

/// Those of any trial of the group.
std::set<int> rounds_of(const std::vector<TrialRecord>& trials,
                        const std::vector<std::size_t>& group) {
  std::set<int> numbers;
  for (const std::size_t i : group) {
    for (const TrialRound& round : trials[i].rounds) numbers.insert(round.round);
  }
  return numbers;
}

/// One entry for each of these rounds, empty where the trial lacks it.
RoundSamples samples_of(const TrialRecord& trial, const std::set<int>& rounds) {
  RoundSamples samples;
  for (const int number : rounds) {
    const auto round = std::ranges::find(trial.rounds, number, &TrialRound::round);
    const bool lacks = round == trial.rounds.end();
    samples.latency_ms.push_back(lacks ? std::vector<double>() : round->latency_ms);
    samples.intervals_s.push_back(lacks ? std::vector<double>() : round->intervals_s);
  }
  return samples;
}

std::vector<const partitioner::Objective*> latency_and_throughput() {
  std::vector<const partitioner::Objective*> objectives;
  for (const partitioner::Objective& objective : partitioner::builtin_objectives()) {
    if (objective.name == "latency" || objective.name == "throughput") {
      objectives.push_back(&objective);
    }
  }
  return objectives;
}

}  // namespace

partitioner::Measurement measurement_of(const TrialRecord& trial) {
  std::uint64_t peak_memory_bytes = 0;
  for (const StageFigures& stage : trial.stages) {
    peak_memory_bytes = std::max(peak_memory_bytes, stage.peak_memory_bytes);
  }
  return {.latency_p50_ms = trial.latency.p50_ms,
          .latency_p90_ms = trial.latency.p90_ms,
          .latency_p99_ms = trial.latency.p99_ms,
          .latency_mean_ms = trial.latency.mean_ms,
          .latency_window = trial.latency.window,
          .throughput_per_s = trial.throughput.samples_per_s,
          .throughput_window = trial.throughput.window,
          .peak_memory_bytes = peak_memory_bytes,
          .boundary_bytes = trial.split ? trial.split->boundary_bytes : 0};
}

bool is_measured(const TrialRecord& trial) {
  return trial.status == TrialStatus::kOk && trial.latency.samples > 0;
}

void mark_front(std::vector<TrialRecord>& trials, std::uint64_t seed) {
  std::vector<partitioner::Measurement> printed;
  for (TrialRecord& trial : trials) {
    trial.p_front = 0;
    printed.push_back(measurement_of(trial));
  }
  mark_on_front(trials, printed);
  for (const std::vector<std::size_t>& group : measured_groups(trials)) {
    const std::set<int> rounds = rounds_of(trials, group);
    std::vector<RoundSamples> samples;
    for (const std::size_t i : group) samples.push_back(samples_of(trials[i], rounds));
    const std::vector<double> probability = front_probability(samples, seed);
    for (std::size_t i = 0; i < group.size(); ++i) {
      trials[group[i]].p_front = std::min(probability[i], 1.0);
    }
  }
}

void mark_on_front(std::vector<TrialRecord>& trials,
                   std::span<const partitioner::Measurement> believed) {
  for (TrialRecord& trial : trials) trial.on_front = false;
  const auto objectives = latency_and_throughput();
  for (const std::vector<std::size_t>& group : measured_groups(trials)) {
    std::vector<partitioner::Measurement> points;
    for (const std::size_t i : group) points.push_back(believed[i]);
    for (const std::size_t i : partitioner::pareto_front(points, objectives)) {
      trials[group[i]].on_front = true;
    }
  }
}

}  // namespace pareto::client
