#include "coordinator/replay/simulated_record.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "coordinator/results/shown_figure.h"
#include "coordinator/results/simulated.h"
#include "coordinator/statistics/front.h"
#include "partitioner/planning/simulation/scenario_file.h"
#include "partitioner/planning/simulation/wire.h"

namespace pareto::replay {
namespace {

using simulation::Crossing;
using simulation::LatencyOutcome;
using simulation::LinkOutcome;
using simulation::Outcome;
using simulation::PipelineClass;
using simulation::PipelineOutcome;
using simulation::Scenario;
using simulation::StageOutcome;
using simulation::Utilisation;

constexpr const char* kSimulated = "simulated";

/// Returns the bytes of the tensors; 0 if a message is no more than headers.
std::uint64_t tensor_bytes(const Crossing& link) {
  const std::uint64_t frame = simulation::bytes_without_packet_headers(link.bytes);
  return frame - std::min(frame, simulation::kFrameBytes);
}

const Crossing& link_of(const PipelineClass& pipeline, std::size_t i) {
  return i < pipeline.stages.size() ? pipeline.stages[i].link : pipeline.result;
}

results::SplitRecord split_of(const PipelineClass& pipeline) {
  results::SplitRecord split;
  for (std::size_t i = 1; i < pipeline.stages.size(); ++i) {
    const std::uint64_t bytes = tensor_bytes(pipeline.stages[i].link);
    const auto position = static_cast<std::int64_t>(i);
    split.cuts.push_back({fmt::format("before stage {}", i), position, {}, bytes});
    split.name += (i == 1 ? "" : "+") + split.cuts.back().name;
    split.boundary_bytes += bytes;
  }
  split.position = 1;
  return split;
}

plan::Plan plan_of(const PipelineClass& pipeline, const PipelineOutcome& outcome) {
  plan::Plan plan;
  plan.batch = pipeline.batch;
  plan.window = pipeline.window;
  std::int64_t begin = 0;
  for (const StageOutcome& stage : outcome.stages) {
    plan.stages.push_back({stage.device, begin, begin + 1});
    ++begin;
  }
  std::vector<std::string> links;
  for (const LinkOutcome& link : outcome.links) {
    links.push_back(link.media.empty() ? "own" : link.way());
  }
  plan.set_transports(std::move(links));
  return plan;
}

results::TimeSplit time_split_of(const PipelineOutcome& outcome) {
  results::TimeSplit split;
  for (const StageOutcome& stage : outcome.stages) split.compute_ms += stage.compute_ms;
  for (const LinkOutcome& link : outcome.links) split.transfer_ms += link.transfer_ms;
  const LatencyOutcome& latency = outcome.latency;
  // Who was in the middle of a part as measuring began or ended makes a mean of parts a little
  // larger than that of the whole.
  const double whole = std::max(latency.mean_ms, split.compute_ms + split.transfer_ms);
  const double share = whole > 0 ? latency.p50_ms / whole : 0;
  split.compute_ms *= share;
  split.transfer_ms *= share;
  split.wait_ms = latency.p50_ms - split.compute_ms - split.transfer_ms;
  return split;
}

results::TrialRecord trial_of(const PipelineClass& pipeline, const PipelineOutcome& outcome) {
  results::TrialRecord trial;
  trial.id = outcome.name;
  trial.name = outcome.name;
  if (pipeline.stages.size() > 1) trial.split = split_of(pipeline);
  trial.plan = plan_of(pipeline, outcome);
  trial.transport = kSimulated;
  trial.batch = pipeline.batch;
  trial.condition = kSimulated;
  if (outcome.requests == 0) {
    trial.status = results::TrialStatus::kFailed;
    trial.failure = "none of its requests was completed while the simulation was measured";
    return trial;
  }
  const int window = outcome.window > 0
                         ? outcome.window
                         : std::max(1, static_cast<int>(std::ceil(outcome.in_flight)));
  const LatencyOutcome& latency = outcome.latency;
  const double p50_ms = results::shown_figure(latency.p50_ms);
  trial.latency = {p50_ms,         latency.p90_ms,   latency.p95_ms,
                   latency.p99_ms, latency.mean_ms,  {p50_ms, p50_ms},
                   window,         outcome.requests, latency.p50_ms};
  const double samples_per_s = results::shown_figure(outcome.samples_per_s);
  trial.throughput = {samples_per_s,
                      {samples_per_s, samples_per_s},
                      window,
                      outcome.requests,
                      outcome.samples_per_s};
  for (const StageOutcome& stage : outcome.stages) {
    results::StageFigures& figures = trial.stages.emplace_back();
    figures.device = stage.device;
    figures.compute_p50_ms = stage.compute_ms;
    figures.queue_p50_ms = stage.queue_ms;
    figures.receive_p50_ms = stage.receive_ms;
    figures.encode_p50_ms = stage.send_ms;
  }
  for (std::size_t i = 0; i < outcome.links.size(); ++i) {
    const Crossing& link = link_of(pipeline, i);
    trial.links.push_back({outcome.links[i].transfer_ms, tensor_bytes(link), link.bytes});
  }
  trial.time_split = time_split_of(outcome);
  return trial;
}

/// Returns "at work 43.1 % of the time, the busiest, number 7, 99 %".
std::string use_text(int count, const Utilisation& use) {
  std::string text = fmt::format("at work {:.3g} % of the time", use.mean * 100);
  if (count > 1) {
    text += fmt::format(", the busiest, number {}, {:.3g} %", use.busiest, use.most * 100);
  }
  return text;
}

std::string note_of(const Scenario& scenario, const Outcome& outcome) {
  std::string note = fmt::format(
      "Simulated, not measured: {} requests in {:.4g} s of simulated time, of which the last "
      "{:.4g} s count{}. Percentiles are of all requests, so that there are no intervals; times of "
      "a request's parts are means. ",
      outcome.requests, to_seconds(outcome.simulated), to_seconds(outcome.measured),
      outcome.stopped ? "; it was stopped before its end" : "");
  const bool unlimited = std::ranges::any_of(
      scenario.pipelines, [](const PipelineClass& one) { return one.window == 0; });
  if (unlimited) {
    note += "Where any number may be in flight, the window is how many were on average. ";
  }
  for (const simulation::MediumOutcome& medium : outcome.media) {
    note += fmt::format("Medium {}: {} of them, {}. ", medium.name, medium.count,
                        use_text(medium.count, medium.use));
  }
  for (const PipelineOutcome& one : outcome.pipelines) {
    note +=
        fmt::format("{}: {} of them, {:.4g} in flight in each", one.name, one.count, one.in_flight);
    if (!one.bottleneck.empty()) {
      note += fmt::format(", most at work {} ({:.3g} %)", one.bottleneck, one.bottleneck_use * 100);
    }
    note += ". ";
  }
  note.pop_back();
  return note;
}

}  // namespace

results::RunRecord simulated_record(const std::string& name, const Scenario& scenario,
                                    const Outcome& outcome) {
  results::RunRecord run;
  results::mark_simulated(run, results::Simulated::kFigures);
  run.id = kSimulated;
  run.model = "Simulation of " + name;
  run.software_version = PARETO_VERSION;
  run.seed = scenario.seed;
  run.note = note_of(scenario, outcome);
  for (const simulation::DeviceOutcome& device : outcome.devices) {
    results::DeviceRecord& record = run.devices.emplace_back();
    record.name = device.name;
    record.address = kSimulated;
    record.threads = device.cores;
    record.cpu = fmt::format("{} of them, {}", device.count, use_text(device.count, device.use));
    record.cores = device.cores;
  }
  for (std::size_t i = 0; i < outcome.pipelines.size(); ++i) {
    run.trials.push_back(trial_of(scenario.pipelines[i], outcome.pipelines[i]));
  }
  return run;
}

results::RunRecord with_simulated_predictions(results::RunRecord run,
                                              const std::vector<SimulatedTrial>& trials) {
  std::map<std::string, const SimulatedTrial*> simulated;
  for (const SimulatedTrial& one : trials) {
    if (one.skipped.empty()) simulated[one.trial->id] = &one;
  }
  results::mark_simulated(run, results::Simulated::kPredictions);
  run.note += (run.note.empty() ? "" : " ") +
              std::string(
                  "Predictions are those of paretoctl simulate, from each trial's own "
                  "requests at window 1: that latency it was calibrated with.");
  for (results::TrialRecord& trial : run.trials) {
    const auto found = simulated.find(trial.id);
    if (found == simulated.end()) {
      if (statistics::is_measured(trial)) trial.prediction.reset();
      continue;
    }
    if (!trial.prediction) {
      results::Prediction& added = trial.prediction.emplace();
      added.expected_latency_ms = trial.latency.p50_ms;
      added.expected_samples_per_s = trial.throughput.samples_per_s;
    }
    trial.prediction->latency_ms = found->second->p50_ms.simulated;
    trial.prediction->samples_per_s = found->second->samples_per_s.simulated;
    trial.prediction->window = found->second->window;
  }
  return run;
}

}  // namespace pareto::replay
