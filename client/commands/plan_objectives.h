// The objectives that `plan` searches by, next to latency and throughput.
#pragma once

#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "core/base/error.h"
#include "partitioner/planning/objective/objective.h"

namespace pareto::client::commands {

/// Checks that the inventory says of each device what an objective needs. Fails: kInvalidArgument
/// naming the first device without, and the key.
Expected<> check_figures(const cluster::Cluster& cluster, const planning::Objective& objective);
/// Returns the objectives that plans can be searched by on these devices.
std::vector<const planning::Objective*> known_objectives(const cluster::Cluster& cluster);

std::vector<std::string> searched_objective_names();
/// Returns "energy (modelled energy, needs power: 5W in the inventory); memory (…)".
std::string also_help();

}  // namespace pareto::client::commands
