// A model as the calls of modules and functions that its author wrote: what tables of parallelism
// inside models count. Free of LibTorch.
#pragma once

#include <vector>

#include "partitioner/model/graph/graph.h"
#include "runtime/schedules/weighted_graph.h"

namespace pareto::model {

/// Returns a node for each operator. Operators that only make, read or take apart lists and tuples
/// are part of those that use them. Costs are those of Das & Rauchwerger (IPDPS 2024): 6 of a
/// convolution, 3 of a linear layer, 1 of all others.
schedules::WeightedGraph call_graph(const Graph& graph);

}  // namespace pareto::model
