// A predicted plan as a scenario: the simulator calibrated by profiles and probes, with the times
// that the cost model has.
//
//   CostInputs + Placement ──▶ Scenario of one pipeline
//       ──▶ simulate(), or a file that people make a fleet of
//
// Without jitter the latency of a lone request is evaluate()'s, and a full pipeline's throughput
// that of its bottleneck. Beyond the cost model a simulation has what FORMAT.md says: queues that
// are full, turns that messages of several requests take on a device or medium, stages that are
// awake or not as requests come, where evaluate() has lone requests wake all and others none, and
// media that are still passing the rest of a message whose beginning was computed on.
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

/// Returns one pipeline, the next request as soon as there is room in the window, 20000 requests.
/// Each stage has a device class of its own, of one device that works on a message at a time: what
/// was profiled is a stage that has its device to itself. Media that several links share are called
/// as `inputs` name them, or medium-0 and so on by their number. A device's jitter becomes a
/// coefficient of variation: messages differ, but not in spells. `inputs` pass check(). Fails: as
/// evaluate() and check() do; kInvalidArgument (replicas).
Expected<Scenario> planned_scenario(const planning::CostInputs& inputs,
                                    const planning::Placement& placement,
                                    const PlannedPipeline& pipeline);

/// Writes the scenario as a file with comments, of which read_scenario() makes the same again,
/// times to the nanosecond. `heading`: lines of comment to begin with; printable, some may be
/// empty.
std::string planned_scenario_text(const Scenario& scenario,
                                  const std::vector<std::string>& heading);

}  // namespace pareto::simulation
