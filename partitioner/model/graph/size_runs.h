// Concludes from runs at several sizes of the inputs which dimensions of a graph's values follow
// them, and how. Sees LibTorch.
#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "partitioner/model/graph/example_runs.h"
#include "partitioner/model/graph/graph.h"

namespace pareto::model {

/// Puts the sizes that vary into the graph, and the expressions of its values; adds reasons for
/// values that cannot cross because a dimension is no such expression. `first`: a run at the sizes
/// of the shapes. Does nothing if no size varies. Fails: kInvalidArgument (the model does not run
/// at one of the sizes: with the operator that refuses it, and LibTorch's reason).
Expected<> add_sizes(GraphRunner& runner, const Flat& flat, const std::vector<InputShape>& shapes,
                     const ExampleRun& first, Graph& graph, std::vector<std::string>& reasons);

}  // namespace pareto::model
