// What a simulation says, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "client/experiment/calibration.h"
#include "client/report/report_writer.h"
#include "partitioner/simulation/simulate.h"

namespace pareto::client {

/// `name`: of the scenario. Pipelines, with where their time goes; then devices and media.
std::string write_simulation_table(const std::string& name, const simulation::Outcome& outcome,
                                   const ReportStyle& style);
/// One document; its schema: tests/golden/simulation.schema.json.
std::string write_simulation_json(const std::string& name, const simulation::Scenario& scenario,
                                  const simulation::Outcome& outcome);

/// A run's trials, measured and simulated beside each other, and how far apart they are.
std::string write_simulated_run_table(const RunRecord& run,
                                      const std::vector<SimulatedTrial>& trials,
                                      const ReportStyle& style);
/// One document; its schema: tests/golden/simulated_run.schema.json.
std::string write_simulated_run_json(const RunRecord& run, const RunSimulationOptions& options,
                                     const std::vector<SimulatedTrial>& trials);

}  // namespace pareto::client
