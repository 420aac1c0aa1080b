// Layout of tensors in memory, read off one that was computed. Sees LibTorch.
#pragma once

#include "partitioner/model/graph/graph.h"
#include "runtime/torch/compat.h"

namespace pareto::model {

/// Returns the trivial layout for a dense tensor, and for what is no tensor.
MemoryLayout layout_of(const c10::IValue& value);

/// Returns whether a list, tuple or dict holds tensors of another layout than the trivial one.
bool holds_views(const c10::IValue& value);

/// Returns the layout given by two runs: where they differ in more than the order of dimensions,
/// gaps are not kept.
MemoryLayout join_layouts(const MemoryLayout& a, const MemoryLayout& b);

/// Emits operators into `graph` that give the layout to a dense tensor whose dimensions are in the
/// order of memory. Returns the result, and adds the number of operators to `count`.
torch::jit::Value* restore_layout(torch::jit::Graph& graph, torch::jit::Value* tensor,
                                  const MemoryLayout& layout, std::int64_t& count);

}  // namespace pareto::model
