// Pictures put side by side along their channels, which are the innermost dimension. Sees LibTorch:
// for runtime sources only.
#pragma once

#include <torch/script.h>

#include <vector>

namespace pareto::runtime::kernels {

/// Returns cat(pictures, 1), by the threads of the pool. What is no picture with its channels
/// innermost is left to LibTorch. Threads: any. Throws c10::Error.
at::Tensor concatenate(const std::vector<at::Tensor>& pictures);

/// Returns the operator that does so inside a graph: (Tensor[] pictures) -> Tensor. Known to
/// LibTorch from the first call on.
c10::Symbol concatenation_symbol();

}  // namespace pareto::runtime::kernels
