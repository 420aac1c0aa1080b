// The steps from a loaded module's forward graph to the flat form. Sees LibTorch.
#pragma once

#include <memory>
#include <vector>

#include "core/base/error.h"
#include "core/runtime/torch_compat.h"
#include "partitioner/graph/flat.h"

namespace pareto::partitioner {

/// Puts the bodies of all called methods and functions in place of the calls, each operator under its module's path.
/// graph.inputs()[0] is `self`.
void inline_calls(torch::jit::Graph& graph);

/// Makes an input of every tensor attribute (one for each tensor, however many names it has), a constant of every other, and
/// drops `self`. Fails with kInvalidArgument where the graph sets attributes or keeps objects that this cannot express.
Expected<std::vector<FlatWeight>> lift_attributes(torch::jit::Graph& graph,
                                                  const torch::jit::Module& module);

/// Unrolls constant loops, folds what is constant, removes in-place writes, lists and tuples where that changes nothing; puts
/// the lists and tuples that stay next to their first user.
void simplify(std::shared_ptr<torch::jit::Graph>& graph);

/// Large tensor constants become weights, named "constants.0" …, so that they travel once and by digest.
void lift_constants(torch::jit::Graph& graph, std::vector<FlatWeight>& weights);

/// Drops weights that nothing reads any more; they are the last inputs, in order.
void drop_unused_weights(torch::jit::Graph& graph, std::vector<FlatWeight>& weights);

}  // namespace pareto::partitioner
