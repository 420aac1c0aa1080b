// Simulations as records of runs, so that whatever shows a run shows them: marked as simulated, and
// never stored.
//
//   Scenario + Outcome ──▶ RunRecord: a trial for each class of pipelines
//   RunRecord + SimulatedTrials ──▶ its copy, with predictions
#pragma once

#include <string>
#include <vector>

#include "coordinator/replay/calibration.h"
#include "coordinator/results/record.h"
#include "partitioner/planning/simulation/scenario.h"
#include "partitioner/planning/simulation/simulate.h"

namespace pareto::replay {

/// Returns the outcome of the scenario `name` as a run. Condition and transport of all trials are
/// "simulated", that of a link its media or "own". Intervals have no width: percentiles are of all
/// requests. The times of a request's parts are means, its time split is the mean's in proportion
/// to the p50. Where any number may be in flight the window is how many were on average, rounded
/// up. A class of which no request was completed has failed.
results::RunRecord simulated_record(const std::string& name, const simulation::Scenario& scenario,
                                    const simulation::Outcome& outcome);

/// Replaces predictions of a run's trials by simulated figures. `trials` comes from simulate_run().
/// The figures are latency at window 1, with which the simulation was calibrated, and throughput at
/// the trial's window. Trials that were measured and not simulated have none. Expected figures of
/// trials stay.
results::RunRecord with_simulated_predictions(results::RunRecord run,
                                              const std::vector<SimulatedTrial>& trials);

}  // namespace pareto::replay
