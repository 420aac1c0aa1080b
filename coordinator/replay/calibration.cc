#include "coordinator/replay/calibration.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coordinator/statistics/statistics.h"
#include "partitioner/planning/simulation/simulate.h"
#include "partitioner/planning/simulation/wire.h"

namespace pareto::replay {
namespace {

using simulation::Crossing;
using simulation::PipelineClass;
using simulation::Recording;
using simulation::Stage;

constexpr double kNsPerMs = 1e6;
/// Blocks of neighbours, in correlation lengths; as the intervals' bootstrap.
constexpr double kBlockLengths = 5;

/// One measured request, in ms. Links: stages + 1.
struct Row {
  std::vector<double> receive;  ///< processor time; the last is the sink's
  std::vector<double> compute;
  std::vector<double> busy;  ///< times in place of compute if the stage is awake
  std::vector<double> send;
  std::vector<double> wire;
  std::vector<double> delays;
};

int device_index(const results::RunRecord& run, const std::string& name) {
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    if (run.devices[i].name == name) return static_cast<int>(i);
  }
  return 0;
}

std::uint64_t wire_bytes(const results::TrialRecord& trial, std::size_t link) {
  if (link >= trial.links.size()) return 0;
  const results::LinkFigures& figures = trial.links[link];
  return simulation::bytes_with_packet_headers(figures.wire_bytes > 0 ? figures.wire_bytes
                                                                      : figures.bytes);
}

/// Returns the time that a message occupies each link at its network's measured rate, in ms; 0:
/// there is none between the two.
std::vector<double> wire_times(const results::RunRecord& run, const results::TrialRecord& trial) {
  const std::size_t stages = trial.plan.stages.size();
  std::vector<double> times(stages + 1);
  if (!trial.network) return times;
  int from = 0;  // the coordinator is next to the first device
  for (std::size_t i = 0; i <= stages; ++i) {
    const int to = i == stages ? 0 : device_index(run, trial.plan.stages[i].device);
    const double rate =
        to > from ? trial.network->forward_mbit_per_s : trial.network->backward_mbit_per_s;
    if (to != from && rate > 0) {
      times[i] = static_cast<double>(wire_bytes(trial, i)) * 8 / (rate * 1e3);
    }
    from = to;
  }
  return times;
}

double sum(const std::vector<double>& parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

/// Some request under load; runs of versions that did not keep them are as busy as they are alone.
double busy_of(const std::vector<double>& busy, std::size_t request, double alone) {
  return busy.empty() ? alone : busy[request % busy.size()];
}

Row row_of(const results::TrialRound& round, std::size_t request,
           const std::vector<double>& wires) {
  Row row;
  row.wire = wires;
  for (std::size_t i = 0; i < wires.size(); ++i) {
    const bool to_sink = i == round.stages.size();
    const double receive =
        to_sink ? round.sink_receive_ms[request] : round.stages[i].receive_ms[request];
    row.receive.push_back(std::max(0.0, receive - wires[i]));
    if (to_sink) break;
    const results::StageSamples& stage = round.stages[i];
    row.compute.push_back(stage.compute_ms[request]);
    row.busy.push_back(busy_of(stage.busy_ms, request, row.compute.back()));
    row.send.push_back(round.stages[i].encode_ms[request]);
  }
  const double moving = sum(row.receive) + sum(row.wire);
  const double rest = round.latency_ms[request] - sum(row.compute) - sum(row.send) - moving;
  if (rest >= 0) {
    row.delays.assign(wires.size(), rest / static_cast<double>(wires.size()));
    return row;
  }
  row.delays.assign(wires.size(), 0);
  if (moving > 0) {
    // Parts that overlapped: values that left before others, bytes that a link's buffer took at
    // once.
    const double share = std::max(0.0, 1 + rest / moving);
    for (double& time : row.receive) time *= share;
    for (double& time : row.wire) time *= share;
  }
  return row;
}

bool is_whole(const results::TrialRound& round, std::size_t stages) {
  const std::size_t requests = round.latency_ms.size();
  return round.stages.size() == stages && round.sink_receive_ms.size() == requests &&
         std::ranges::all_of(round.stages, [&](const results::StageSamples& samples) {
           return samples.compute_ms.size() == requests && samples.receive_ms.size() == requests &&
                  samples.encode_ms.size() == requests;
         });
}

/// Columns in this order: of each stage wire, delay, receive, compute, busy, send; then wire, delay
/// and receive of the sink.
void append(const Row& row, std::vector<std::int64_t>& nanoseconds) {
  const auto add = [&](double milliseconds) {
    nanoseconds.push_back(std::llround(milliseconds * kNsPerMs));
  };
  for (std::size_t i = 0; i < row.wire.size(); ++i) {
    add(row.wire[i]);
    add(row.delays[i]);
    add(row.receive[i]);
    if (i == row.compute.size()) break;
    add(row.compute[i]);
    add(row.busy[i]);
    add(row.send[i]);
  }
}

PipelineClass with_columns(const results::TrialRecord& trial) {
  PipelineClass pipeline;
  pipeline.name = trial.id;
  pipeline.batch = trial.batch;
  int column = 0;
  const auto link = [&](std::size_t index) {
    Crossing crossing;
    crossing.bytes = wire_bytes(trial, index);
    crossing.places = simulation::connection_places(crossing.bytes);
    crossing.occupancy.column = column++;
    crossing.delay.column = column++;
    return crossing;
  };
  for (std::size_t i = 0; i < trial.plan.stages.size(); ++i) {
    Stage stage;
    stage.device = static_cast<int>(i);
    stage.link = link(i);
    stage.receive.column = column++;
    stage.compute.column = column++;
    stage.busy.emplace().column = column++;
    stage.send.column = column++;
    pipeline.stages.push_back(stage);
  }
  pipeline.result = link(trial.plan.stages.size());
  pipeline.sink.column = column++;
  return pipeline;
}

/// Returns the pipeline alone, each stage on a device of its own.
simulation::Scenario scenario_of(const PipelineClass& pipeline, int window,
                                 const RunSimulationOptions& options) {
  simulation::Scenario scenario;
  scenario.seed = options.seed;
  scenario.requests = options.requests;
  for (std::size_t i = 0; i < pipeline.stages.size(); ++i) {
    simulation::DeviceClass device;
    device.name = std::to_string(i);
    device.cores = options.cores;
    scenario.devices.push_back(device);
  }
  scenario.pipelines = {pipeline};
  scenario.pipelines[0].window = window;
  return scenario;
}

std::vector<double> latencies_of(const results::TrialRecord& trial) {
  std::vector<double> all;
  for (const results::TrialRound& round : trial.rounds) {
    all.insert(all.end(), round.latency_ms.begin(), round.latency_ms.end());
  }
  return all;
}

Expected<> fill(const PipelineClass& pipeline, const RunSimulationOptions& options,
                SimulatedTrial& simulated) {
  const results::TrialRecord& trial = *simulated.trial;
  // What was measured at window 1 holds, however soon one request follows another.
  PipelineClass as_measured = pipeline;
  for (Stage& stage : as_measured.stages) stage.busy.reset();
  PARETO_ASSIGN(const simulation::Outcome alone,
                simulation::simulate(scenario_of(as_measured, 1, options)));
  simulated.window = trial.throughput.window;
  PARETO_ASSIGN(const simulation::Outcome loaded,
                simulation::simulate(scenario_of(pipeline, simulated.window, options)));
  const std::vector<double> latencies = latencies_of(trial);
  simulated.p50_ms = {statistics::median(latencies), alone.pipelines[0].latency.p50_ms};
  simulated.p95_ms = {results::quantile(latencies, 0.95), alone.pipelines[0].latency.p95_ms};
  simulated.samples_per_s = {trial.throughput.measured_per_s, loaded.pipelines[0].samples_per_s};
  simulated.bottleneck = loaded.pipelines[0].bottleneck;
  simulated.bottleneck_use = loaded.pipelines[0].bottleneck_use;
  // Of a trial alone, devices are known by name.
  for (std::size_t i = 0; i < pipeline.stages.size(); ++i) {
    if (simulated.bottleneck == fmt::format("device {}", i)) {
      simulated.bottleneck = "device " + trial.plan.stages[i].device;
      break;
    }
  }
  return {};
}

}  // namespace

Expected<PipelineClass> measured_pipeline(const results::RunRecord& run,
                                          const results::TrialRecord& trial) {
  if (trial.status != results::TrialStatus::kOk || trial.rounds.empty()) {
    return fail(ErrorCode::kInvalidArgument, "{} was not measured{}{}", trial.id,
                trial.failure.empty() ? "" : ": ", trial.failure);
  }
  if (trial.plan.replicated) {
    return fail(ErrorCode::kInvalidArgument, "{} has replicas, which are not simulated", trial.id);
  }
  if (trial.plan.messages() > 1) {
    return fail(ErrorCode::kInvalidArgument, "{} travels in micro-batches, which are not simulated",
                trial.id);
  }
  PipelineClass pipeline = with_columns(trial);
  const std::vector<double> wires = wire_times(run, trial);
  auto recording = std::make_shared<Recording>();
  recording->columns = 6 * trial.plan.stages.size() + 3;
  for (const results::TrialRound& round : trial.rounds) {
    if (!is_whole(round, trial.plan.stages.size())) {
      return fail(ErrorCode::kInvalidArgument, "{}: round {} lacks samples of some stages",
                  trial.id, round.round);
    }
    for (std::size_t i = 0; i < round.latency_ms.size(); ++i) {
      append(row_of(round, i, wires), recording->nanoseconds);
    }
  }
  const auto rows = static_cast<double>(recording->rows());
  if (rows < 1) return fail(ErrorCode::kInvalidArgument, "{} has no samples", trial.id);
  recording->block = std::clamp(kBlockLengths * statistics::correlation_length(latencies_of(trial)),
                                1.0, std::max(1.0, rows / 3));
  pipeline.recording = std::move(recording);
  return pipeline;
}

ErrorSummary summary_of(const std::vector<SimulatedTrial>& trials,
                        Predicted SimulatedTrial::*figure) {
  std::vector<double> errors;
  for (const SimulatedTrial& trial : trials) {
    if (trial.skipped.empty()) errors.push_back(std::abs((trial.*figure).error()));
  }
  if (errors.empty()) return {};
  return {statistics::median(errors), std::ranges::max(errors)};
}

Expected<std::vector<SimulatedTrial>> simulate_run(
    const results::RunRecord& run, const RunSimulationOptions& options,
    const std::function<bool(std::size_t done)>& on_progress) {
  std::vector<SimulatedTrial> simulated;
  for (const results::TrialRecord& trial : run.trials) {
    if (!on_progress(simulated.size())) break;
    SimulatedTrial& row = simulated.emplace_back();
    row.trial = &trial;
    const auto pipeline = measured_pipeline(run, trial);
    if (pipeline) {
      PARETO_TRY(with_context(fill(*pipeline, options, row), "trial {}", trial.id));
    } else {
      row.skipped = pipeline.error().message;
    }
  }
  return simulated;
}

}  // namespace pareto::replay
