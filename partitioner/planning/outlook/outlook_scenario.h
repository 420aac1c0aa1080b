// The plan that was chosen as a scenario for the simulator
// (partitioner/planning/simulation/FORMAT.md): what it would be as a fleet.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "partitioner/planning/outlook/outlook.h"
#include "partitioner/planning/outlook/settings_costs.h"

namespace pareto::planning {

/// Returns the file's text: one pipeline of the plan under its window, and above it what was
/// predicted. `costs`: the outlook's; `batch`: of its messages. Fails: kExhausted where no plan
/// was chosen; as simulation::planned_scenario() does.
Expected<std::string> scenario_text(const Outlook& outlook, const SettingsCosts& costs,
                                    std::int64_t batch);

}  // namespace pareto::planning
