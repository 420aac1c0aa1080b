// The steps from a loaded module's forward graph to the flat form. Sees LibTorch.
#pragma once

#include <memory>
#include <unordered_set>
#include <vector>

#include "core/base/error.h"
#include "core/runtime/torch_compat.h"
#include "partitioner/graph/flat.h"

namespace pareto::partitioner {

/// Puts the bodies of all called methods and functions in place of the calls, each operator under its module's path.
/// graph.inputs()[0] is `self`.
void inline_calls(torch::jit::Graph& graph);

/// Makes an input of every tensor attribute (one for each tensor, however many names it has; those in lists, tuples and dicts among
/// them), a constant of every other, and drops `self`. Fails with kInvalidArgument where the graph sets attributes, changes lists or
/// dicts that are attributes, or keeps objects that this cannot express.
Expected<std::vector<FlatWeight>> lift_attributes(std::shared_ptr<torch::jit::Graph>& graph,
                                                  const torch::jit::Module& module);

/// Unrolls constant loops, folds what is constant, removes lists and tuples where that changes nothing; puts those that stay next to
/// their first user.
void simplify(std::shared_ptr<torch::jit::Graph>& graph);

/// Puts operators that return a new tensor in place of those that write to one, where nobody sees the difference; of a simplified
/// graph. `writes`: those whose new tensor would be of the type of the one they write to.
void remove_writes(std::shared_ptr<torch::jit::Graph>& graph,
                   const std::unordered_set<const torch::jit::Node*>& writes);

/// Large tensor constants become weights, named "constants.0" … after those that are there, so that they travel once and by digest.
void lift_constants(torch::jit::Graph& graph, std::vector<FlatWeight>& weights);

/// Drops weights that nothing reads any more; they are the last inputs, in order.
void drop_unused_weights(torch::jit::Graph& graph, std::vector<FlatWeight>& weights);

}  // namespace pareto::partitioner
