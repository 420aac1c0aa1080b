#include "coordinator/replay/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partitioner/planning/simulation/simulate.h"
#include "tests/support/synthetic_run.h"

namespace pareto::replay {
namespace {

using testing::HasSubstr;

/// Returns two devices, two stages; every request takes `compute` ms on each, 0.5 ms to receive,
/// 0.25 ms to encode, and 2 ms elsewhere.
results::RunRecord two_stages(double first_ms, double second_ms, int window) {
  results::RunRecord run;
  run.id = "r";
  run.model = "m";
  run.devices.resize(2);
  run.devices[0].name = "one";
  run.devices[1].name = "two";
  results::TrialRecord& trial = run.trials.emplace_back();
  trial.id = "t";
  trial.batch = 4;
  trial.plan.batch = 4;
  trial.plan.stages = {{"one", 0, 5}, {"two", 5, 9}};
  trial.plan.splits = {"after:a"};
  trial.throughput.window = window;
  trial.throughput.measured_per_s = 100;
  for (const std::uint64_t bytes : {1000U, 100'000U, 10U}) {
    results::LinkFigures& link = trial.links.emplace_back();
    link.bytes = bytes;
  }
  results::TrialRound& round = trial.rounds.emplace_back();
  for (int i = 0; i < 40; ++i) {
    round.latency_ms.push_back(first_ms + second_ms + 3 * 0.5 + 2 * 0.25 + 2);
    round.sink_receive_ms.push_back(0.5);
  }
  round.stages.resize(2);
  round.stages[0].compute_ms.assign(40, first_ms);
  round.stages[1].compute_ms.assign(40, second_ms);
  for (results::StageSamples& stage : round.stages) {
    stage.queue_ms.assign(40, 0.1);
    stage.receive_ms.assign(40, 0.5);
    stage.encode_ms.assign(40, 0.25);
  }
  return run;
}

std::vector<SimulatedTrial> simulated(const results::RunRecord& run, int cores = 1) {
  RunSimulationOptions options;
  options.requests = 5000;
  options.cores = cores;
  auto trials = simulate_run(run, options, [](std::size_t) { return true; });
  EXPECT_TRUE(trials) << (trials ? "" : trials.error().message);
  return trials ? *std::move(trials) : std::vector<SimulatedTrial>{};
}

TEST(Calibration, LatencyAtWindowOneIsThatOfTheSamples) {
  const results::RunRecord run = two_stages(6, 4, 1);
  const SimulatedTrial trial = simulated(run).at(0);
  EXPECT_NEAR(trial.p50_ms.simulated, 14, 0.02);
  EXPECT_NEAR(trial.p50_ms.measured, 14, 1e-9);
  EXPECT_NEAR(trial.p95_ms.simulated, 14, 0.02);
  EXPECT_NEAR(trial.samples_per_s.simulated, 4 / 0.014, 0.1);
}

TEST(Calibration, AStageReceivesComputesAndEncodesOnItsCores) {
  const results::RunRecord run = two_stages(6, 4, 8);
  const SimulatedTrial trial = simulated(run).at(0);
  EXPECT_NEAR(trial.samples_per_s.simulated, 4 / 0.00675, 2);
  EXPECT_EQ(trial.bottleneck, "device one");
  EXPECT_NEAR(trial.samples_per_s.error(), 4 / 0.00675 / 100 - 1, 0.02);
  EXPECT_NEAR(simulated(run, 3).at(0).samples_per_s.simulated, 4 / 0.006, 2);
}

TEST(Calibration, ANetworkWasWhatReceivingWaitedFor) {
  // 100 kB of 69 packets at 8 Mbit/s: 103.5 ms on the wire, of 120 that receiving took.
  results::RunRecord run = two_stages(6, 4, 8);
  results::TrialRecord& trial = run.trials[0];
  trial.links[1].wire_bytes = 100'000;
  trial.network.emplace();
  trial.network->forward_mbit_per_s = 8;
  trial.network->backward_mbit_per_s = 80;
  for (int i = 0; i < 40; ++i) {
    trial.rounds[0].stages[1].receive_ms[static_cast<std::size_t>(i)] = 120;
    trial.rounds[0].latency_ms[static_cast<std::size_t>(i)] += 119.5;
  }
  const SimulatedTrial slow = simulated(run).at(0);
  EXPECT_NEAR(slow.p50_ms.simulated, 133.5, 0.2);
  EXPECT_NEAR(slow.samples_per_s.simulated, 4 / 0.103588, 0.1);
  EXPECT_EQ(slow.bottleneck, "link 1");
}

TEST(Calibration, PartsThatOverlappedAreMadeToFit) {
  results::RunRecord run = two_stages(6, 4, 1);
  for (double& latency : run.trials[0].rounds[0].latency_ms) latency = 11;
  EXPECT_NEAR(simulated(run).at(0).p50_ms.simulated, 11, 0.02);
}

TEST(Calibration, StagesUnderLoadTakeWhatTheyTookUnderLoad) {
  results::RunRecord run = two_stages(6, 4, 8);
  const double before = simulated(run).at(0).p50_ms.simulated;
  run.trials[0].rounds[0].stages[0].busy_ms = {5, 5, 5};
  run.trials[0].rounds[0].stages[1].busy_ms = {4};
  const SimulatedTrial trial = simulated(run).at(0);
  EXPECT_NEAR(trial.p50_ms.simulated, before, 0.01) << "a lone request still finds them asleep";
  EXPECT_NEAR(trial.samples_per_s.simulated, 4 / 0.00575, 8) << "receiving and sending on its core";
}

TEST(Calibration, ALoneRequestTakesAsLongHoweverSoonItFollows) {
  // The next one comes to the first stage 5 ms after the one before has left it, of 30 that it
  // took.
  results::RunRecord run = two_stages(30, 1, 8);
  run.trials[0].rounds[0].stages[0].busy_ms = {25};
  const SimulatedTrial trial = simulated(run).at(0);
  EXPECT_NEAR(trial.p50_ms.measured, 35, 1e-9);
  EXPECT_NEAR(trial.p50_ms.simulated, 35, 0.05);
  EXPECT_NEAR(trial.samples_per_s.simulated, 4 / 0.02575, 2) << "under load it is busy";
}

TEST(Calibration, RequestsKeepTheirPartsTogether) {
  // What one stage takes more the other takes less: the latency is always the same.
  results::RunRecord run = two_stages(6, 4, 1);
  results::TrialRound& round = run.trials[0].rounds[0];
  for (std::size_t i = 0; i < 40; ++i) {
    const double more = static_cast<double>(i * 37 % 40) * 0.1;
    round.stages[0].compute_ms[i] += more - 2;
    round.stages[1].compute_ms[i] += 2 - more;
  }
  const auto pipeline = measured_pipeline(run, run.trials[0]);
  ASSERT_TRUE(pipeline);
  EXPECT_EQ(pipeline->recording->rows(), 40U);
  const SimulatedTrial trial = simulated(run).at(0);
  EXPECT_NEAR(trial.p95_ms.simulated, 14, 0.02);
}

TEST(Calibration, WhatIsNotSimulatedSaysWhy) {
  results::RunRecord run = two_stages(6, 4, 1);
  run.trials.push_back(run.trials[0]);
  run.trials.push_back(run.trials[0]);
  run.trials.push_back(run.trials[0]);
  run.trials[1].plan.micro_batch = 2;
  run.trials[2].status = results::TrialStatus::kFailed;
  run.trials[2].failure = "no memory";
  run.trials[3].rounds[0].stages[1].compute_ms.pop_back();
  const auto trials = simulated(run);
  ASSERT_EQ(trials.size(), 4U);
  EXPECT_EQ(trials[0].skipped, "");
  EXPECT_THAT(trials[1].skipped, HasSubstr("micro-batches"));
  EXPECT_THAT(trials[2].skipped, HasSubstr("was not measured: no memory"));
  EXPECT_THAT(trials[3].skipped, HasSubstr("round 0 lacks samples"));
  // Only the first counts.
  EXPECT_EQ(summary_of(trials, &SimulatedTrial::samples_per_s).most,
            std::abs(trials[0].samples_per_s.error()));
}

TEST(Calibration, ASyntheticRunFromEndToEnd) {
  const results::RunRecord run = test::synthetic_run({.transports = {"tcp"}, .batches = {1}});
  const auto trials = simulated(run);
  ASSERT_EQ(trials.size(), run.trials.size());
  for (const SimulatedTrial& trial : trials) {
    if (trial.skipped.empty()) {
      EXPECT_LT(std::abs(trial.p50_ms.error()), 0.05) << trial.trial->id;
    }
  }
}

}  // namespace
}  // namespace pareto::replay
