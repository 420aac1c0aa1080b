#include "coordinator/replay/simulated_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/results/record_json.h"
#include "coordinator/results/simulated.h"
#include "partitioner/planning/simulation/wire.h"
#include "tests/support/synthetic_run.h"

namespace pareto::replay {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;

/// Twice on devices of their own: 10 ms, a link of 2 + 3 ms, 20 ms; closed at window 1, and one
/// stage of 5 ms asked every 100 ms.
simulation::Scenario scenario() {
  simulation::Scenario scenario;
  scenario.seed = 7;
  scenario.requests = 1000;
  scenario.devices.resize(2);
  scenario.devices[0].name = "camera";
  scenario.devices[0].count = 3;
  scenario.devices[1].name = "edge";
  scenario.devices[1].count = 2;
  scenario.devices[1].cores = 4;
  scenario.media.resize(1);
  scenario.media[0].name = "wifi";
  simulation::PipelineClass split;
  split.name = "split";
  split.count = 2;
  split.window = 1;
  split.batch = 4;
  split.stages.resize(2);
  split.stages[0].compute.mean = milliseconds(10);
  split.stages[1].device = 1;
  split.stages[1].compute.mean = milliseconds(20);
  split.stages[1].link.bytes = simulation::bytes_with_packet_headers(2000 + 320);
  split.stages[1].link.occupancy.mean = milliseconds(2);
  split.stages[1].link.delay.mean = milliseconds(3);
  simulation::PipelineClass whole;
  whole.name = "whole";
  whole.batch = 4;
  whole.arrivals.kind = simulation::ArrivalKind::kPeriodic;
  whole.arrivals.period = milliseconds(100);
  whole.stages.resize(1);
  whole.stages[0].compute.mean = milliseconds(5);
  whole.stages[0].link.media = {{0}};
  scenario.pipelines = {split, whole};
  return scenario;
}

results::RunRecord record_of(const simulation::Scenario& scenario) {
  const auto outcome = simulation::simulate(scenario);
  EXPECT_TRUE(outcome) << outcome.error().message;
  return simulated_record("fleet.yaml", scenario, *outcome);
}

TEST(SimulatedRecord, HasATrialForEachClassOfPipelines) {
  const results::RunRecord run = record_of(scenario());
  EXPECT_EQ(results::simulated_in(run), results::Simulated::kFigures);
  EXPECT_EQ(run.model, "Simulation of fleet.yaml");
  EXPECT_EQ(run.seed, 7U);
  ASSERT_EQ(run.trials.size(), 2U);
  const results::TrialRecord& split = run.trials[0];
  EXPECT_EQ(split.id, "split");
  EXPECT_EQ(split.condition, "simulated");
  EXPECT_EQ(split.transport, "simulated");
  EXPECT_EQ(split.batch, 4);
  EXPECT_NEAR(split.latency.p50_ms, 35, 0.05);
  EXPECT_NEAR(split.latency.p99_ms, 35, 0.05);
  EXPECT_EQ(split.latency.ci95_ms.low, split.latency.ci95_ms.high);
  EXPECT_EQ(split.latency.window, 1);
  EXPECT_GT(split.latency.samples, 100);
  EXPECT_NEAR(split.throughput.samples_per_s, 2 * 4 / 0.035, 2);
  ASSERT_EQ(split.stages.size(), 2U);
  EXPECT_EQ(split.stages[1].device, "edge");
  EXPECT_NEAR(split.stages[1].compute_p50_ms, 20, 0.1);
  ASSERT_EQ(split.links.size(), 3U);
  EXPECT_NEAR(split.links[1].transfer_p50_ms, 5, 0.05);
  EXPECT_EQ(split.links[1].bytes, 2000U);
  EXPECT_EQ(split.links[0].bytes, 0U);
  ASSERT_TRUE(split.split);
  EXPECT_EQ(split.split->boundary_bytes, 2000U);
  const results::TimeSplit& time = split.time_split;
  EXPECT_NEAR(time.compute_ms, 30, 0.2);
  EXPECT_NEAR(time.transfer_ms, 5, 0.1);
  EXPECT_NEAR(time.compute_ms + time.transfer_ms + time.wait_ms, split.latency.p50_ms, 0.005)
      << "which is rounded as it is printed";
}

TEST(SimulatedRecord, TheWindowOfOpenArrivalsIsHowManyWereInFlight) {
  simulation::Scenario busy = scenario();
  busy.pipelines[1].arrivals.period = milliseconds(10);
  busy.pipelines[1].stages[0].link.delay.mean = milliseconds(31);
  const results::TrialRecord whole = record_of(busy).trials.at(1);
  EXPECT_FALSE(whole.split);
  EXPECT_EQ(whole.plan.transport_of(0), "wifi");
  EXPECT_EQ(whole.plan.transport_of(1), "own");
  EXPECT_EQ(whole.throughput.window, 4) << "36 ms of 10 ms";
  EXPECT_EQ(whole.latency.window, 4);
}

TEST(SimulatedRecord, ClassesThatRanTogetherHaveNoFront) {
  for (const results::TrialRecord& trial : record_of(scenario()).trials) {
    EXPECT_FALSE(trial.on_front) << trial.id;
    EXPECT_EQ(trial.p_front, 0) << trial.id;
  }
}

TEST(SimulatedRecord, AClassWithoutACompletedRequestHasFailed) {
  simulation::Scenario slow = scenario();
  slow.pipelines[1].arrivals.period = std::chrono::hours(10);
  const results::TrialRecord whole = record_of(slow).trials.at(1);
  EXPECT_EQ(whole.status, results::TrialStatus::kFailed);
  EXPECT_THAT(whole.failure, HasSubstr("none of its requests"));
  EXPECT_FALSE(whole.on_front);
}

TEST(SimulatedRecord, SaysWhatItIs) {
  const results::RunRecord run = record_of(scenario());
  EXPECT_THAT(run.note, AllOf(HasSubstr("Simulated, not measured: 1000 requests"),
                              HasSubstr("Medium wifi: 1 of them"),
                              HasSubstr("split: 2 of them, 1 in flight in each")));
  ASSERT_EQ(run.devices.size(), 2U);
  EXPECT_EQ(run.devices[1].cores, 4);
  EXPECT_THAT(run.devices[0].cpu, HasSubstr("3 of them, at work"));
}

TEST(SimulatedPredictions, StandBesideWhatWasMeasured) {
  results::RunRecord run = test::synthetic_adaptive_sweep();
  results::RunRecord plain = test::synthetic_run({.transports = {"tcp"}, .batches = {1}});
  run.trials.push_back(plain.trials[0]);
  run.trials.back().id = "unpredicted";
  std::vector<SimulatedTrial> simulated;
  std::vector<std::size_t> measured;
  std::size_t unmeasured = run.trials.size();
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    SimulatedTrial& one = simulated.emplace_back();
    one.trial = &run.trials[i];
    if (run.trials[i].latency.samples == 0) {
      one.skipped = "was not measured";
      unmeasured = i;
      continue;
    }
    measured.push_back(i);
    one.window = 5;
    one.p50_ms = {run.trials[i].latency.p50_ms, 11};
    one.samples_per_s = {run.trials[i].throughput.samples_per_s, 22};
  }
  ASSERT_GE(measured.size(), 3U);
  ASSERT_LT(unmeasured, run.trials.size());
  simulated[measured[0]].skipped = "lacks samples";
  const results::RunRecord beside = with_simulated_predictions(run, simulated);
  EXPECT_EQ(results::simulated_in(beside), results::Simulated::kPredictions);
  EXPECT_EQ(results::is_adaptive(beside), results::is_adaptive(run));
  EXPECT_THAT(beside.note, HasSubstr("Predictions are those of paretoctl simulate"));
  EXPECT_FALSE(beside.trials[measured[0]].prediction) << "measured, but not simulated";
  const results::Prediction& kept = *run.trials[measured[1]].prediction;
  const results::Prediction& replaced = *beside.trials[measured[1]].prediction;
  EXPECT_EQ(replaced.latency_ms, 11);
  EXPECT_EQ(replaced.samples_per_s, 22);
  EXPECT_EQ(replaced.window, 5);
  EXPECT_EQ(replaced.expected_latency_ms, kept.expected_latency_ms);
  EXPECT_EQ(beside.trials.back().prediction->expected_latency_ms, run.trials.back().latency.p50_ms);
  EXPECT_EQ(beside.trials[unmeasured].prediction->latency_ms,
            run.trials[unmeasured].prediction->latency_ms);
  EXPECT_EQ(beside.trials[measured[1]].latency.p50_ms, run.trials[measured[1]].latency.p50_ms);
}

}  // namespace
}  // namespace pareto::replay
