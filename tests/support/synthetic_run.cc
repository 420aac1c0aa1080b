#include "tests/support/synthetic_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "coordinator/results/front_chance.h"
#include "coordinator/results/quantile.h"
#include "coordinator/results/shown_figure.h"
#include "coordinator/statistics/objective_figures.h"
#include "partitioner/planning/objective/objective.h"

namespace pareto::test {
namespace {

using results::RunRecord;
using results::TrialRecord;
using results::TrialRound;
using results::TrialStatus;

constexpr double kModelMs = 16.5;  // one device, one sample

/// The times of a trial's requests, in ms.
struct Work {
  double first = 0;
  double second = 0;
  double link = 0;  ///< time from end to end, all links together
  double busy = 0;  ///< part of that while no other request can use the slowest of them
};

/// Channels and edge of the activation after module `i` of a network shaped like MobileNetV2.
TensorSpec boundary_after(int i, int count) {
  const double depth = static_cast<double>(i) / count;
  const std::int64_t edge = depth < 0.12   ? 112
                            : depth < 0.3  ? 56
                            : depth < 0.5  ? 28
                            : depth < 0.75 ? 14
                                           : 7;
  const std::int64_t channels = std::lround(16 + 300 * depth * depth);
  return {DType::kFloat32, {{0, 1}, {channels, 0}, {edge, 0}, {edge, 0}}};
}

void fill_figures(TrialRecord& trial, const Work& work, std::mt19937_64& random) {
  const auto [first_ms, second_ms, link_ms, busy_ms] = work;
  std::normal_distribution<double> noise(1, 0.04);
  const double latency = first_ms + second_ms + link_ms + 0.35;
  const double bottleneck = std::max({first_ms, second_ms, busy_ms});
  std::vector<double> sorted;
  std::vector<double> rates;
  for (int i = 0; i < 3; ++i) {
    TrialRound& round = trial.rounds.emplace_back();
    round.round = i;
    round.loading = i / 2;
    round.stages.resize(trial.plan.stages.size());
    round.window = second_ms > 0 ? 4 : 2;
    for (int request = 0; request < 12; ++request) {
      round.latency_ms.push_back(latency * std::max(0.9, noise(random)));
      round.sink_receive_ms.push_back(0.05);
      for (results::StageSamples& stage : round.stages) {
        stage.compute_ms.push_back(&stage == &round.stages.front() ? first_ms : second_ms);
        stage.queue_ms.push_back(0.02);
        stage.receive_ms.push_back(0.05);
        stage.encode_ms.push_back(0.03);
      }
    }
    rates.push_back(1000.0 * static_cast<double>(trial.batch) / bottleneck * noise(random));
    round.intervals_s.assign(80, static_cast<double>(trial.batch) / rates.back());
    sorted.insert(sorted.end(), round.latency_ms.begin(), round.latency_ms.end());
  }
  std::ranges::sort(sorted);
  trial.latency = {results::shown_figure(sorted[18]),
                   sorted[32],
                   results::quantile(sorted, 0.95),
                   sorted[35],
                   latency,
                   {sorted[13], sorted[23]},
                   1,
                   36,
                   sorted[18]};
  std::ranges::sort(rates);
  trial.throughput = {results::shown_figure(rates[1]),
                      {rates[0], rates[2]},
                      trial.rounds.front().window,
                      240,
                      rates[1]};
  const double compute = first_ms + second_ms;
  trial.time_split = {compute, link_ms, trial.latency.p50_ms - compute - link_ms};
  const double stage_ms[2] = {first_ms, second_ms};
  for (std::size_t i = 0; i < trial.plan.stages.size(); ++i) {
    trial.stages.push_back({trial.plan.stages[i].device, "onednn", stage_ms[i], 0.02, 0.05, 0.03,
                            (24 + i) << 20, (i + 1) * 3'000'000});
  }
  const std::uint64_t input_bytes = 602'112U * static_cast<std::uint64_t>(trial.batch);
  trial.links.push_back({0.2, input_bytes});
  if (second_ms > 0) trial.links.push_back({link_ms - 0.25, trial.split->boundary_bytes});
  trial.links.push_back({0.05, 4000U * static_cast<std::uint64_t>(trial.batch)});
}

TrialRecord make_trial(int split, const std::string& device, const std::string& transport,
                       std::int64_t batch, const SyntheticOptions& options,
                       const SyntheticNetwork* network, std::mt19937_64& random) {
  const int count = options.split_points;
  TrialRecord trial;
  trial.transport = transport;
  trial.batch = batch;
  trial.plan.model = "mobilenetv2";
  trial.plan.transport = transport;
  trial.plan.batch = batch;
  const double scale = std::pow(static_cast<double>(batch), 0.9);
  const double per_byte = transport == "grpc" ? 1.1e-6 : 4e-7;
  const double per_message = transport == "grpc" ? 0.35 : 0.06;
  // What crosses the network waits for the rate, and half a round trip; so does the result on its
  // way back.
  const auto crossing_ms = [&](double bytes) {
    return network != nullptr ? bytes * 8e-3 / network->mbit_per_s : 0;
  };
  const double round_trip_ms = network != nullptr ? network->round_trip_ms : 0;
  if (split < 0) {
    trial.plan.stages = {{device, 0, 153}};
    const bool second = device == "pi-2";
    const double ms = kModelMs * scale * (second ? options.slow_factor : 1);
    const double link = 2 * per_message + 6e5 * per_byte;
    const double crossing = second ? crossing_ms(6e5 * static_cast<double>(batch)) : 0;
    fill_figures(trial,
                 {ms, 0, link + crossing + (second ? round_trip_ms : 0), std::max(link, crossing)},
                 random);
  } else {
    const double share = std::pow((split + 1.0) / (count + 1), 0.8);
    const std::int64_t position = 1 + 152 * (split + 1) / (count + 1);
    trial.plan.stages = {{"pi-1", 0, position}, {"pi-2", position, 153}};
    trial.split.emplace();
    trial.split->name = fmt::format("after:features.{}", split);
    trial.split->position = position;
    trial.split->boundary = {boundary_after(split, count)};
    trial.split->boundary_bytes = trial.split->boundary[0].size_bytes(batch).value();
    trial.split->cuts = {
        {trial.split->name, position, trial.split->boundary, trial.split->boundary_bytes}};
    trial.plan.splits = {trial.split->name};
    const double bytes = static_cast<double>(trial.split->boundary_bytes);
    const double link = 3 * per_message + (6e5 + bytes) * per_byte + 0.3;
    const double crossing = crossing_ms(bytes);
    fill_figures(trial,
                 {kModelMs * scale * share, kModelMs * scale * (1 - share) * options.slow_factor,
                  link + crossing + round_trip_ms, std::max(link, crossing)},
                 random);
  }
  trial.id = fmt::format("{}/{}/b{}", trial.split ? trial.split->name : "all-on:" + device,
                         transport, batch);
  if (network != nullptr) {
    trial.condition = network->name;
    trial.network = results::NetworkFigures{network->round_trip_ms, 0.02, network->mbit_per_s,
                                            network->mbit_per_s};
    if (network->name != "none") trial.id += "/" + network->name;
  }
  return trial;
}

void mark_fronts(std::vector<TrialRecord>& trials) {
  std::map<std::pair<std::int64_t, std::string>, std::vector<TrialRecord*>> groups;
  for (TrialRecord& trial : trials) {
    trial.on_front = false;
    if (trial.status == TrialStatus::kOk && trial.latency.samples > 0) {
      groups[{trial.batch, trial.condition}].push_back(&trial);
    }
  }
  for (auto& [key, group] : groups) {
    std::vector<planning::Measurement> points(group.size());
    for (std::size_t i = 0; i < group.size(); ++i) {
      points[i].latency_p50_ms = group[i]->latency.p50_ms;
      points[i].throughput_per_s = group[i]->throughput.samples_per_s;
      group[i]->p_front = 0.04;
    }
    for (const std::size_t i : planning::pareto_front(points, planning::latency_and_throughput())) {
      group[i]->on_front = true;
      group[i]->p_front = 0.9;
    }
  }
}

void mark_failed(TrialRecord& trial, const std::string& failure) {
  trial.status = TrialStatus::kFailed;
  trial.failure = failure;
  trial.on_front = false;
  trial.p_front = 0;
  trial.latency = {};
  trial.throughput = {};
  trial.time_split = {};
  trial.stages.clear();
  trial.links.clear();
  trial.rounds.clear();
}

}  // namespace

RunRecord synthetic_run(const SyntheticOptions& options) {
  std::mt19937_64 random(options.seed);
  RunRecord run;
  run.id = "20260131-101502-ab12";
  run.model = "mobilenetv2";
  run.model_digest = std::string(64, 'a');
  run.model_weight_bytes = 14'158'688;
  run.started = "2026-01-31T10:15:02Z";
  run.finished = "2026-01-31T10:16:49Z";
  run.command_line = "paretoctl sweep --model mobilenetv2 --batch 1,8";
  run.options_json = R"({"splits":"modules","rounds":3,"requests":12})";
  run.software_version = "0.1.0";
  run.seed = options.seed;
  run.devices = {
      {"pi-1", "192.168.1.20:7070", 1, "Cortex-A76", 8'000'000'000, "1.13.1", 14'158'688},
      {"pi-2", "192.168.1.21:7070", 1, "Cortex-A72", 4'000'000'000, "1.13.1", 12'000'000}};
  run.coordinator = Machine{"AMD Ryzen 7 5800U", 16, "Debian GNU/Linux 12 (bookworm), Linux 6.1.0",
                            16'000'000'000};
  run.passes = {
      {0, 16.9, 1.02, false}, {1, 21.3, 1.2, false}, {2, 16.7, 1.01, false}, {1, 16.8, 1, true}};
  for (auto& pass : run.passes) {
    pass.seconds = 24;
    pass.spent = {25, 23, 0.5, 0.75, 0.25, 0, {9.5, 14, 31}};
  }
  run.note = "3 rounds in random order; the first 10 requests of each unit are dropped.";
  std::vector<const SyntheticNetwork*> networks{nullptr};
  if (!options.networks.empty()) {
    networks.clear();
    for (const SyntheticNetwork& network : options.networks) networks.push_back(&network);
  }
  for (const std::int64_t batch : options.batches) {
    for (const std::string& transport : options.transports) {
      for (const SyntheticNetwork* network : networks) {
        for (int split = 0; split < options.split_points; ++split) {
          run.trials.push_back(make_trial(split, "", transport, batch, options, network, random));
        }
        for (const char* device : {"pi-1", "pi-2"}) {
          run.trials.push_back(make_trial(-1, device, transport, batch, options, network, random));
        }
      }
    }
  }
  if (options.with_failure) {
    mark_failed(run.trials[run.trials.size() - 3],
                "deploying: stage 1 on pi-2: 1.2 GiB is more than its limit of 1 GiB");
  }
  mark_fronts(run.trials);
  return run;
}

RunRecord with_objectives(RunRecord run) {
  statistics::fill_objectives(run);
  return run;
}

RunRecord synthetic_chain_sweep() {
  RunRecord run = synthetic_run({.batches = {1}, .split_points = 6, .with_failure = false});
  run.devices.push_back(run.devices.back());
  run.devices.back().name = "pi-3";
  for (std::size_t i = 0; i < run.trials.size(); i += 2) {
    TrialRecord& trial = run.trials[i];
    if (!trial.split) continue;
    const results::CutRecord second{
        "after:avgpool", 150, {{DType::kFloat32, {{0, 1}, {392, 0}}}}, 1568};
    trial.split->cuts.push_back(second);
    trial.split->boundary.push_back(second.boundary.front());
    trial.split->boundary_bytes += second.boundary_bytes;
    trial.split->name += "+" + second.name;
    trial.id = trial.split->name + "/" + trial.transport + "/b1";
    trial.plan.splits.push_back(second.name);
    trial.plan.stages.back().end = second.position;
    trial.plan.stages.push_back({"pi-3", second.position, 153});
    trial.stages.push_back(trial.stages.back());
    trial.stages.back().device = "pi-3";
    trial.links.insert(trial.links.end() - 1, {0.07, second.boundary_bytes});
    for (TrialRound& round : trial.rounds) round.stages.push_back(round.stages.back());
  }
  return run;
}

RunRecord synthetic_network_sweep() {
  RunRecord run = synthetic_run({.with_failure = false,
                                 .networks = {{"20-far", 60.2, 19.9},
                                              {"1-near", 4.1, 0.99},
                                              {"none", 0.08, 1870},
                                              {"100-near", 4.2, 100.1},
                                              {"1-far", 61.3, 1.01},
                                              {"4-near", 4.1, 4.02},
                                              {"1000-far", 60.1, 958},
                                              {"20-near", 4.1, 20.03},
                                              {"100-far", 60.1, 99.8},
                                              {"4-far", 60.4, 3.98},
                                              {"1000-near", 4.1, 961}},
                                 .slow_factor = 0.3});
  for (TrialRecord& trial : run.trials) {
    if (trial.condition == "1-far") mark_failed(trial, "measuring: no result within 30 s");
  }
  return run;
}

RunRecord synthetic_skipped_sweep() {
  RunRecord run = synthetic_network_sweep();
  for (TrialRecord& trial : run.trials) {
    if (trial.condition != "1-far") continue;
    trial.status = TrialStatus::kSkipped;
    trial.failure = "network 1-far: 0.8 Mbit/s of 1";
  }
  return run;
}

RunRecord synthetic_large_sweep() {
  return synthetic_run({.transports = {"tcp"},
                        .batches = {1},
                        .split_points = 225,
                        .with_failure = false,
                        .networks = {{"none", 0.08, 1870},
                                     {"1000-near", 4.1, 961},
                                     {"100-near", 4.2, 100.1},
                                     {"20-far", 60.2, 19.9}},
                        .slow_factor = 0.3});
}

RunRecord synthetic_adaptive_sweep() {
  RunRecord run = synthetic_run({.batches = {1}, .with_failure = false});
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    TrialRecord& trial = run.trials[i];
    const double measured_ms = trial.latency.measured_p50_ms;
    const double measured_rate = trial.throughput.measured_per_s;
    // All that is known says otherwise than the few rounds of some.
    const double factor = i % 4 == 1 ? 0.93 : i % 4 == 2 ? 1.06 : 1;
    trial.latency.p50_ms = results::shown_figure(factor * measured_ms);
    trial.throughput.samples_per_s = results::shown_figure(measured_rate / factor);
    for (double* part :
         {&trial.time_split.compute_ms, &trial.time_split.transfer_ms, &trial.time_split.wait_ms}) {
      *part *= factor;
    }
    trial.prediction = results::Prediction{1.05 * measured_ms,
                                           0.96 * measured_rate,
                                           4,
                                           factor * measured_ms,
                                           measured_rate / factor,
                                           0.02,
                                           0.03,
                                           0.7,
                                           0.9};
    if (i % 3 != 0) continue;
    trial.latency = {};
    trial.throughput = {};
    trial.rounds.clear();
  }
  mark_fronts(run.trials);
  for (std::size_t i = 0; i < run.trials.size(); i += 3) {
    run.trials[i].on_front = false;
    run.trials[i].p_front = i == 0 ? 0.4 : results::kLeastChance;
  }
  return run;
}

}  // namespace pareto::test
