// Writes the results of a simulation, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "client/report/report_writer.h"
#include "coordinator/replay/calibration.h"
#include "partitioner/planning/simulation/simulate.h"

namespace pareto::report {

/// Writes pipelines, with where their time goes, then devices and media. `name` is the scenario's.
std::string write_simulation_table(const std::string& name, const simulation::Outcome& outcome,
                                   const ReportStyle& style);
/// Writes one document; its schema: tests/golden/simulation.schema.json.
std::string write_simulation_json(const std::string& name, const simulation::Scenario& scenario,
                                  const simulation::Outcome& outcome);

/// Writes a run's trials, measured and simulated next to each other, and how far apart they are.
std::string write_simulated_run_table(const results::RunRecord& run,
                                      const std::vector<replay::SimulatedTrial>& trials,
                                      const ReportStyle& style);
/// Writes one document; its schema: tests/golden/simulated_run.schema.json.
std::string write_simulated_run_json(const results::RunRecord& run,
                                     const replay::RunSimulationOptions& options,
                                     const std::vector<replay::SimulatedTrial>& trials);

}  // namespace pareto::report
