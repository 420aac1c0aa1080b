// Devices as stored profiles know them: predictions without measuring anything.
#pragma once

#include <optional>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/results/store.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/planning/inputs/cost_model.h"

namespace pareto::profile {

/// Returns each device of the cluster as it was profiled for the model with a plan's settings and
/// batch; no value if it was not. Fails: as the store does.
Expected<std::vector<std::optional<planning::DeviceFacts>>> known_devices(
    const model::Model& model, const cluster::Cluster& cluster, const plan::Plan& plan,
    results::ResultStore& store);

/// Returns the error of a device that was not profiled so, with the remedy: kNotFound.
Error not_profiled(const cluster::DaemonClient& device, const model::Model& model,
                   const plan::Plan& plan);

}  // namespace pareto::profile
