#include "client/experiment/front.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "client/experiment/statistics.h"
#include "partitioner/objective/objective.h"

namespace pareto::client {
namespace {

/// Those of any trial of the group.
std::set<int> rounds_of(const std::vector<TrialRecord*>& group) {
  std::set<int> numbers;
  for (const TrialRecord* trial : group) {
    for (const TrialRound& round : trial->rounds) numbers.insert(round.round);
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

bool is_measured(const TrialRecord& trial) {
  return trial.status == TrialStatus::kOk && trial.latency.samples > 0;
}

void mark_front(std::vector<TrialRecord>& trials, std::uint64_t seed) {
  std::map<std::pair<std::int64_t, std::string>, std::vector<TrialRecord*>> groups;
  for (TrialRecord& trial : trials) {
    trial.on_front = false;
    trial.p_front = 0;
    if (is_measured(trial)) groups[{trial.batch, trial.condition}].push_back(&trial);
  }
  const auto objectives = latency_and_throughput();
  for (auto& [key, group] : groups) {
    std::vector<partitioner::Measurement> points;
    const std::set<int> rounds = rounds_of(group);
    std::vector<RoundSamples> samples;
    for (const TrialRecord* trial : group) {
      partitioner::Measurement point;
      point.latency_p50_ms = trial->latency.p50_ms;
      point.throughput_per_s = trial->throughput.samples_per_s;
      points.push_back(point);
      samples.push_back(samples_of(*trial, rounds));
    }
    for (const std::size_t i : partitioner::pareto_front(points, objectives)) {
      group[i]->on_front = true;
    }
    const std::vector<double> probability = front_probability(samples, seed);
    for (std::size_t i = 0; i < group.size(); ++i)
      group[i]->p_front = std::min(probability[i], 1.0);
  }
}

}  // namespace pareto::client
