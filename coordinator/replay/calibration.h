// Makes a pipeline that can be simulated from a trial's requests. This calibrates the simulator,
// and shows how accurate it is.
//
//   a request measured at window 1 = a row:
//       [ receive | compute | encode ] of each stage, wire and delay of each link, sink
//
// Next to it stand the times that requests took to be computed while throughput was measured. These
// count if messages follow each other.
//
// Time to receive at a stage is its link's time at the measured rate of its network. The rest of it
// is processor time; without a network between the two ends it all is. What is left of the latency
// without all parts (wake-ups, sending, delays) is spread over the links as delay, which holds
// nobody else up. So latency at window 1 is that of the samples by construction. Throughput at
// another window is a prediction.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "coordinator/results/record.h"
#include "core/base/error.h"
#include "partitioner/planning/simulation/scenario.h"

namespace pareto::replay {

/// Returns a pipeline of count 1 whose stage i runs on the device class i; the window is left to
/// the caller. `run`: the trial's, for which device the coordinator is next to: its first. Fails:
/// kInvalidArgument (not measured, or in micro-batches, which are not simulated).
Expected<simulation::PipelineClass> measured_pipeline(const results::RunRecord& run,
                                                      const results::TrialRecord& trial);

/// A figure next to what it was predicted to be.
struct Predicted {
  double measured = 0;
  double simulated = 0;
  /// Returns the error as a share of the simulated figure: 0.03 is 3 % too much. 0 if nothing was
  /// measured.
  double error() const { return measured > 0 ? simulated / measured - 1 : 0; }
};

struct SimulatedTrial {
  const results::TrialRecord* trial = nullptr;  ///< trial of the run
  std::string skipped;                          ///< why it was not simulated; empty: it was
  int window = 1;                               ///< window of the throughput
  Predicted samples_per_s;
  Predicted p50_ms;  ///< figure at window 1, as the next
  Predicted p95_ms;
  std::string bottleneck;  ///< bottleneck at `window`
  double bottleneck_use = 0;
};

struct RunSimulationOptions {
  std::int64_t requests = 20'000;  ///< requests of each trial, at either window
  int cores = 1;                   ///< cores of a device, for a pipeline's three threads
  std::uint64_t seed = 1;
};

/// The errors of the simulated figures of several trials, regardless of sign.
struct ErrorSummary {
  double median = 0;
  double most = 0;
};
ErrorSummary summary_of(const std::vector<SimulatedTrial>& trials,
                        Predicted SimulatedTrial::*figure);

/// Returns every trial of the run, in its order. `on_progress`: before each, how many are done;
/// false stops. The run outlives the result.
Expected<std::vector<SimulatedTrial>> simulate_run(
    const results::RunRecord& run, const RunSimulationOptions& options,
    const std::function<bool(std::size_t done)>& on_progress);

}  // namespace pareto::replay
