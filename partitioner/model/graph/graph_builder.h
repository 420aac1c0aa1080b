// Flat -> the structure of Graph. Sees LibTorch.
#pragma once

#include "core/base/error.h"
#include "partitioner/model/graph/flat.h"
#include "partitioner/model/graph/graph.h"

namespace pareto::model {

/// Builds operators, values and weights of a flat graph; specs, layouts and FLOPs come from running
/// it. Fails: kInvalidArgument (quantised or sparse weights; a result that is a constant),
/// kInternal (weights that do not match the inputs).
Expected<Graph> build_graph(const Flat& flat);

}  // namespace pareto::model
