// Times of stages between ideals on a device. They come from the profile that predicts stages
// between positions of the model's order.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/error.h"
#include "core/plan/device_profile.h"
#include "partitioner/model/graph/graph.h"
#include "partitioner/planning/cost/cost_inputs.h"
#include "partitioner/planning/search/graph_ideals.h"

namespace pareto::search {

/// Returns times by position of the ideals, in the form of device_costs(profile, all positions). An
/// operator takes the time that it adds there, so a set that is a prefix is predicted as that
/// position. The cost of entering is not measured for other sets. They take that of the position
/// before which the model has done as much work. Memory is left open.
/// Fails: kInvalidArgument (a profile of another graph).
Expected<planning::DeviceCosts> ideal_costs(const plan::DeviceProfile& profile,
                                            const GraphIdeals& ideals);

/// Returns by position the bytes of the weights that the set needs, each counted once.
std::vector<std::int64_t> ideal_weight_bytes(const model::Graph& graph, const GraphIdeals& ideals);

/// Returns the weights that operators on both sides of some position use; those of the same uses
/// are one. `before`: by position, the operators that run before it; at the last one all.
std::vector<planning::SharedWeight> shared_weights(const model::Graph& graph,
                                                   const std::vector<plan::OperatorRanges>& before);

}  // namespace pareto::search
