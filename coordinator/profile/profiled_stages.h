// Times of a plan's stages by the stored profiles of their devices. A running pipeline can be
// compared with them.
#pragma once

#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/results/store.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "partitioner/model/graph/model.h"

namespace pareto::profile {

/// Returns, for each stage, the time to run its shard for one message of many that follow each
/// other. 0 means unknown: the device was never profiled for that model with the stage's settings,
/// or no profile has such a stage (parts of a model, sets of operators). `plan` fits model and
/// cluster (check_plan). Fails: as the store does.
Expected<std::vector<Nanoseconds>> profiled_stages(const plan::Plan& plan,
                                                   const model::Model& model,
                                                   const cluster::Cluster& cluster,
                                                   results::ResultStore& store);

}  // namespace pareto::profile
