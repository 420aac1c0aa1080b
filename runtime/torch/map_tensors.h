// One function over every tensor of a tree of values. Sees LibTorch: for runtime sources only.
#pragma once

#include <torch/script.h>

#include <functional>

namespace pareto::runtime {

/// Returns the same tree with `change` applied to each defined tensor in it; containers are new,
/// other leaves are shared.
c10::IValue map_tensors(const c10::IValue& value,
                        const std::function<at::Tensor(const at::Tensor&)>& change);

}  // namespace pareto::runtime
