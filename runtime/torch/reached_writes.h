// Follows a value through a graph, to what may be written to. It includes LibTorch: include it only
// in sources of runtime.
#pragma once

#include <torch/script.h>

#include "runtime/torch/compat.h"

namespace pareto::runtime {

/// Returns whether a graph may write in place to a tensor that `root` is, holds, or has as an
/// attribute of its own. It takes no schema's word that a result is new, as AliasDb does: in eval
/// mode dropout returns what it was given. A call of a function with such a value is a write.
bool may_write_to(torch::jit::Graph& graph, const torch::jit::Value* root);

}  // namespace pareto::runtime
