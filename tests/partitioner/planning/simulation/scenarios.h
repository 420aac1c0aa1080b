// Scenarios for tests: one pipeline of given times on devices of its own.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "partitioner/planning/simulation/simulate.h"

namespace pareto::simulation {

using std::chrono::microseconds;
using std::chrono::milliseconds;

inline Duration fixed(Nanoseconds time) {
  Duration duration;
  duration.mean = time;
  return duration;
}

inline Duration varying(Nanoseconds mean, double cv, Shape shape = Shape::kLognormal) {
  Duration duration = fixed(mean);
  duration.cv = cv;
  duration.shape = shape;
  return duration;
}

/// Returns a link that each message occupies for so long, and that delays it.
inline Crossing crossing(Nanoseconds occupancy, Nanoseconds delay) {
  Crossing link;
  link.occupancy = fixed(occupancy);
  link.delay = fixed(delay);
  return link;
}

/// `computes`: a stage each, on a device of its own, with links that take no time.
inline Scenario chain(const std::vector<Duration>& computes, int window) {
  Scenario scenario;
  PipelineClass pipeline;
  pipeline.name = "chain";
  pipeline.window = window;
  for (std::size_t i = 0; i < computes.size(); ++i) {
    DeviceClass device;
    device.name = "d" + std::to_string(i);
    scenario.devices.push_back(device);
    Stage stage;
    stage.device = static_cast<int>(i);
    stage.compute = computes[i];
    pipeline.stages.push_back(stage);
  }
  scenario.pipelines.push_back(pipeline);
  scenario.requests = 10'000;
  return scenario;
}

/// Returns one stage, requests at random.
inline Scenario open_queue(const Duration& compute, double rate_per_s, std::int64_t requests) {
  Scenario scenario = chain({compute}, 0);
  scenario.pipelines[0].arrivals.kind = ArrivalKind::kPoisson;
  scenario.pipelines[0].arrivals.rate_per_s = rate_per_s;
  scenario.requests = requests;
  return scenario;
}

/// Simulates a scenario. Returns what became of its first pipeline.
inline PipelineOutcome only(const Scenario& scenario) {
  const auto outcome = simulate(scenario);
  EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message);
  return outcome ? outcome->pipelines.at(0) : PipelineOutcome{};
}

}  // namespace pareto::simulation
