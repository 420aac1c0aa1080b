// The plan that was chosen as a scenario for the simulator (partitioner/simulation/FORMAT.md): what it would be as a fleet.
#pragma once

#include <cstdint>
#include <string>

#include "client/planning/outlook.h"
#include "core/base/error.h"
#include "partitioner/cost/cost_inputs.h"

namespace pareto::client {

/// The file's text: one pipeline of the plan under its window, and above it what was predicted. `inputs`: the outlook's; `batch`: of its
/// messages. Fails: kExhausted where no plan was chosen; as simulation::planned_scenario() does.
Expected<std::string> scenario_text(const Outlook& outlook, const partitioner::CostInputs& inputs,
                                    std::int64_t batch);

}  // namespace pareto::client
