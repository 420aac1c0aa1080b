// The tensors of a tree of values. Sees LibTorch: for sources of runtime and
// partitioner/model/graph only.
#pragma once

#include <torch/script.h>

#include <functional>

namespace pareto::runtime {

/// Returns the same tree with `change` applied to each defined tensor in it; containers are new,
/// other leaves are shared.
c10::IValue map_tensors(const c10::IValue& value,
                        const std::function<at::Tensor(const at::Tensor&)>& change);

/// Returns whether a value is a tensor or holds one.
bool holds_tensors(const c10::IValue& value);

}  // namespace pareto::runtime
