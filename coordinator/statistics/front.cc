#include "coordinator/statistics/front.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "coordinator/results/front_chance.h"
#include "coordinator/results/prediction_guide.h"
#include "coordinator/results/shown_figure.h"
#include "coordinator/statistics/statistics.h"

namespace pareto::statistics {
namespace {

/// Returns the measured trials of each batch and condition, by their places.
std::vector<std::vector<std::size_t>> measured_groups(
    const std::vector<results::TrialRecord>& trials) {
  std::map<std::pair<std::int64_t, std::string>, std::vector<std::size_t>> by_key;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (is_measured(trials[i])) by_key[{trials[i].batch, trials[i].condition}].push_back(i);
  }
  std::vector<std::vector<std::size_t>> groups;
  for (auto& [key, group] : by_key) groups.push_back(std::move(group));
  return groups;
}

/// Returns the rounds of any trial of the group.
std::set<int> rounds_of(const std::vector<results::TrialRecord>& trials,
                        const std::vector<std::size_t>& group) {
  std::set<int> numbers;
  for (const std::size_t i : group) {
    for (const results::TrialRound& round : trials[i].rounds) numbers.insert(round.round);
  }
  return numbers;
}

/// Returns one entry for each of these rounds, empty where the trial lacks it.
RoundSamples samples_of(const results::TrialRecord& trial, const std::set<int>& rounds) {
  RoundSamples samples;
  for (const int number : rounds) {
    const auto round = std::ranges::find(trial.rounds, number, &results::TrialRound::round);
    const bool lacks = round == trial.rounds.end();
    samples.latency_ms.push_back(lacks ? std::vector<double>() : round->latency_ms);
    samples.intervals_s.push_back(lacks ? std::vector<double>() : round->intervals_s);
  }
  return samples;
}

/// Returns what few rounds cannot tell of a figure, beyond what resampling them shows.
FewRounds few_rounds(const RoundNoise::Plan& latency, const RoundNoise::Plan& throughput) {
  const auto missing = [](const RoundNoise::Plan& plan) {
    const auto rounds = static_cast<double>(std::max<std::size_t>(plan.rounds, 1));
    return std::sqrt(std::max(0.0, plan.left.value - plan.squares / rounds) / rounds);
  };
  return {missing(latency), missing(throughput),
          std::min(latency.left.degrees, throughput.left.degrees)};
}

using Members = std::vector<const results::TrialRecord*>;

Members members_of(const std::vector<results::TrialRecord>& trials,
                   const std::vector<std::size_t>& group) {
  Members members;
  for (const std::size_t i : group) members.push_back(&trials[i]);
  return members;
}

/// The differences between rounds of a group in both figures.
struct GroupNoise {
  RoundNoise latency;
  RoundNoise throughput;
};
GroupNoise noise_of(const Members& members) {
  std::vector<std::vector<SeenRound>> latencies;
  std::vector<std::vector<SeenRound>> throughputs;
  for (const results::TrialRecord* const trial : members) {
    latencies.push_back(seen_latencies(*trial));
    throughputs.push_back(seen_throughputs(*trial));
  }
  const double spread = request_spread(members);
  return {learn_round_noise(latencies, spread), learn_round_noise(throughputs, spread)};
}

void take_medians(results::TrialRecord& trial) {
  if (trial.rounds.empty()) return;
  std::vector<double> latency_ms;
  std::vector<std::vector<double>> intervals_s;
  for (const results::TrialRound& round : trial.rounds) {
    latency_ms.insert(latency_ms.end(), round.latency_ms.begin(), round.latency_ms.end());
    intervals_s.push_back(round.intervals_s);
  }
  trial.latency.measured_p50_ms = median(latency_ms);
  trial.throughput.measured_per_s = median(throughput_of_rounds(intervals_s, trial.batch));
}

/// Rounds a figure and its interval as they are printed.
void show(double figure, const results::Interval& interval, double& shown,
          results::Interval& ci95) {
  shown = results::shown_figure(figure);
  ci95 = {results::shown_figure(interval.low), results::shown_figure(interval.high)};
}

void show_latency(results::TrialRecord& trial, double p50_ms, const FigureError& error) {
  show(p50_ms, interval_about(p50_ms, error), trial.latency.p50_ms, trial.latency.ci95_ms);
  results::TimeSplit& split = trial.time_split;
  const double whole_ms = split.compute_ms + split.transfer_ms + split.wait_ms;
  if (whole_ms <= 0) return;
  for (double* const part : {&split.compute_ms, &split.transfer_ms, &split.wait_ms}) {
    *part *= trial.latency.p50_ms / whole_ms;
  }
}

void show_throughput(results::TrialRecord& trial, double samples_per_s, const FigureError& error) {
  show(samples_per_s, interval_about(samples_per_s, error), trial.throughput.samples_per_s,
       trial.throughput.ci95);
}

/// `place`: the trial's among those of its group.
void show_medians(results::TrialRecord& trial, const GroupNoise& noise, std::size_t place) {
  if (trial.rounds.empty()) return;
  show_latency(trial, trial.latency.measured_p50_ms, error_of(noise.latency, place));
  show_throughput(trial, trial.throughput.measured_per_s, error_of(noise.throughput, place));
}

/// Returns the error of what is believed of a plan that has rounds: the belief's own, what is left
/// of the plan's rounds, and how far the states of its rounds are from other days'. The first two
/// have something in common. Both count in full, because predictions err in ways that no belief
/// knows.
FigureError error_of_belief(double deviation, const RoundNoise& noise, std::size_t plan) {
  const RoundNoise::Plan& own = noise.plans[plan];
  const auto rounds = static_cast<double>(std::max<std::size_t>(own.rounds, 1));
  return FigureError{deviation * deviation + own.left.value / rounds, own.left.degrees} +
         FigureError{noise.state.value / rounds, noise.state.degrees};
}

}  // namespace

planning::Measurement measurement_of(const results::TrialRecord& trial,
                                     const FiguresByDevice& figures) {
  std::vector<planning::StageMeasurement> stages;
  for (const results::StageFigures& stage : trial.stages) {
    const auto known = figures.find(stage.device);
    stages.push_back({stage.compute_p50_ms, stage.peak_memory_bytes,
                      known == figures.end() ? planning::DeviceFigures{} : known->second});
  }
  std::vector<double> wire_bytes;
  for (const results::LinkFigures& link : trial.links) {
    wire_bytes.push_back(static_cast<double>(link.wire_bytes > 0 ? link.wire_bytes : link.bytes));
  }
  return {
      .latency_p50_ms = trial.latency.p50_ms,
      .latency_p90_ms = trial.latency.p90_ms,
      .latency_p99_ms = trial.latency.p99_ms,
      .latency_mean_ms = trial.latency.mean_ms,
      .latency_window = trial.latency.window,
      .throughput_per_s = trial.throughput.samples_per_s,
      .throughput_window = trial.throughput.window,
      .batch = trial.batch,
      .boundary_bytes = trial.split ? trial.split->boundary_bytes : 0,
      .stages = std::move(stages),
      .wire_bytes = std::move(wire_bytes),
      .replicated = trial.plan.replicated,
      .accuracy_percent = trial.accuracy ? 100 * trial.accuracy->top1() : std::nan("not known")};
}

bool is_measured(const results::TrialRecord& trial) {
  return trial.status == results::TrialStatus::kOk && trial.latency.samples > 0;
}

void settle_alone(results::TrialRecord& trial) {
  take_medians(trial);
  const GroupNoise noise = noise_of({&trial});
  show_medians(trial, noise, 0);
  trial.p_front = results::kUnsettled;
}

void show_rounds(std::vector<results::TrialRecord>& trials) {
  for (results::TrialRecord& trial : trials) {
    if (is_measured(trial)) take_medians(trial);
  }
  for (const std::vector<std::size_t>& group : measured_groups(trials)) {
    const GroupNoise noise = noise_of(members_of(trials, group));
    for (std::size_t i = 0; i < group.size(); ++i) show_medians(trials[group[i]], noise, i);
  }
}

void settle_by_rounds(std::vector<results::TrialRecord>& trials, std::uint64_t seed) {
  for (results::TrialRecord& trial : trials) {
    const bool may_be_measured = trial.status == results::TrialStatus::kOk && !is_measured(trial);
    trial.p_front = may_be_measured ? results::kUnsettled : 0;
  }
  show_rounds(trials);
  for (const std::vector<std::size_t>& group : measured_groups(trials)) {
    const GroupNoise noise = noise_of(members_of(trials, group));
    const std::set<int> rounds = rounds_of(trials, group);
    std::vector<RoundSamples> samples;
    std::vector<FewRounds> few;
    for (std::size_t i = 0; i < group.size(); ++i) {
      samples.push_back(samples_of(trials[group[i]], rounds));
      few.push_back(few_rounds(noise.latency.plans[i], noise.throughput.plans[i]));
    }
    const std::vector<double> probability = front_probability(samples, seed, few);
    for (std::size_t i = 0; i < group.size(); ++i) {
      trials[group[i]].p_front = results::kept_chance(trials[group[i]], probability[i]);
    }
  }
  mark_on_front(trials);
}

void settle_by_beliefs(std::vector<results::TrialRecord>& trials, std::span<const Belief> beliefs) {
  for (std::size_t i = 0; i < trials.size(); ++i) {
    results::TrialRecord& trial = trials[i];
    const bool stands = trial.status == results::TrialStatus::kOk;
    trial.p_front = stands ? results::kept_chance(trial, beliefs[i].p_front) : 0;
    if (is_measured(trial)) take_medians(trial);
  }
  results::unsettle_unguided(trials);
  for (const std::vector<std::size_t>& group : measured_groups(trials)) {
    const GroupNoise noise = noise_of(members_of(trials, group));
    for (std::size_t i = 0; i < group.size(); ++i) {
      results::TrialRecord& trial = trials[group[i]];
      const Belief& belief = beliefs[group[i]];
      show_latency(trial, std::exp(belief.latency),
                   error_of_belief(belief.latency_deviation, noise.latency, i));
      show_throughput(trial, std::exp(belief.throughput),
                      error_of_belief(belief.throughput_deviation, noise.throughput, i));
    }
  }
  mark_on_front(trials);
}

void mark_on_front(std::vector<results::TrialRecord>& trials,
                   const std::vector<const planning::Objective*>& objectives,
                   const FiguresByDevice& figures) {
  for (results::TrialRecord& trial : trials) trial.on_front = false;
  for (const std::vector<std::size_t>& group : measured_groups(trials)) {
    std::vector<planning::Measurement> points;
    for (const std::size_t i : group) points.push_back(measurement_of(trials[i], figures));
    for (const std::size_t i : planning::pareto_front(points, objectives)) {
      trials[group[i]].on_front = true;
    }
  }
}

}  // namespace pareto::statistics
