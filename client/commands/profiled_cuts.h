// What the two sides of cuts take on devices that were profiled, for `splits --profiled`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/commands/shown_cuts.h"
#include "coordinator/results/store.h"
#include "core/base/error.h"
#include "partitioner/model/graph/model.h"

namespace pareto::client::commands {

/// Adds to each cut the times of its sides on every device that was profiled for the model at that
/// batch. Of a device with several profiles the last one counts. Fails: kNotFound (no device was
/// profiled), as ideal_costs() and the store do.
Expected<> add_profiled(const model::Model& model, std::int64_t batch, results::ResultStore& store,
                        std::vector<ShownCut>& cuts);

/// Returns the profile of a device for the model at that batch, the last one that was taken; an
/// empty name is of any device. Fails: kNotFound (none, with the devices that there are), as the
/// store does.
Expected<plan::DeviceProfile> profile_on(const model::Model& model, std::int64_t batch,
                                         results::ResultStore& store, const std::string& device);

}  // namespace pareto::client::commands
