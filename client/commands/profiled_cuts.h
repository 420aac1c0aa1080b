// What the two sides of cuts take on devices that were profiled, for `splits --profiled`.
#pragma once

#include <cstdint>
#include <vector>

#include "client/commands/shown_cuts.h"
#include "coordinator/results/store.h"
#include "core/base/error.h"
#include "partitioner/model/graph/model.h"

namespace pareto::client {

/// Adds to each cut the times of its sides on every device that was profiled for the model at that
/// batch. Of a device with several profiles the last one counts. Fails: kNotFound (no device was
/// profiled), as ideal_costs() and the store do.
Expected<> add_profiled(const model::Model& model, std::int64_t batch, results::ResultStore& store,
                        std::vector<ShownCut>& cuts);

}  // namespace pareto::client
