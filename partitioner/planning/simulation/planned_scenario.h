// A predicted plan as a scenario. Profiles and probes calibrate the simulator with the times of the
// cost model.
//
//   CostInputs + Placement ──▶ Scenario of one pipeline
//       ──▶ simulate(), or a file that people make a fleet of
//
// Without jitter, the latency of a lone request is evaluate()'s, and a full pipeline's throughput
// is that of its bottleneck. Beyond the cost model, a simulation has these (FORMAT.md):
// - Queues may be full.
// - Messages of several requests take turns on a device or medium.
// - Stages are awake or not as requests come. In evaluate() lone requests wake all, and others
//   none.
// - Media may still be passing the rest of a message whose beginning is already computed on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "partitioner/planning/cost/cost_inputs.h"
#include "partitioner/planning/cost/evaluate.h"
#include "partitioner/planning/simulation/scenario.h"

namespace pareto::simulation {

/// The settings of a pipeline that a placement does not state.
struct PlannedPipeline {
  std::string name = "pipeline";
  int window = 1;
  std::int64_t batch = 1;
};

/// Returns one pipeline with 20000 requests, each sent as soon as there is room in the window. Each
/// stage has a device class of its own, of one device that works on one message at a time. This is
/// how it was profiled: a stage that has its device to itself. Media that several links share have
/// the names of `inputs`, or medium-0 and so on by their number. A device's jitter becomes a
/// coefficient of variation: messages differ, but not in spells. `inputs` pass check().
/// Fails: as evaluate() and check() do; kInvalidArgument (replicas).
Expected<Scenario> planned_scenario(const planning::CostInputs& inputs,
                                    const planning::Placement& placement,
                                    const PlannedPipeline& pipeline);

/// Writes the scenario as a file with comments, of which read_scenario() makes the same again,
/// times to the nanosecond. `heading`: lines of comment to begin with; printable, some may be
/// empty.
std::string planned_scenario_text(const Scenario& scenario,
                                  const std::vector<std::string>& heading);

}  // namespace pareto::simulation
