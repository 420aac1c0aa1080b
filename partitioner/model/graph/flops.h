// Cost of an operator, computed from the shapes it was run with. Sees LibTorch.
#pragma once

#include <span>

#include "runtime/torch/compat.h"

namespace pareto::model {

/// Returns the floating-point operations of one run, with multiply and add counted as two. They are
/// exact for convolutions and matrix products. Pooling, norms, softmax and elementwise operators
/// count one to a few an element; operators that only move data count 0.
double flops_of(torch::jit::Node* node, std::span<const c10::IValue> inputs,
                std::span<const c10::IValue> outputs);

}  // namespace pareto::model
