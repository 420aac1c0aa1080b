// Finds devices that can be exchanged for each other. The search then only decides how many of them
// a plan takes.
#pragma once

#include <vector>

#include "partitioner/planning/cost/cost_inputs.h"
#include "partitioner/planning/search/media_roles.h"

namespace pareto::search {

/// Returns the devices in groups. Those of one group have the same costs and the same links to all
/// others; a medium of one device may stand for that of another. Each group ascends, and so do
/// their first devices. `media` are those of the inputs.
std::vector<std::vector<int>> exchangeable_devices(const planning::CostInputs& inputs,
                                                   const MediaRoles& media);

}  // namespace pareto::search
