// Cost of an operator, computed from the shapes it was run with. Sees LibTorch.
#pragma once

#include <span>

#include "core/runtime/torch/compat.h"

namespace pareto::model {

/// Floating-point operations of one run, multiply and add counted as two: exact for convolutions
/// and matrix products, one to a few an element for pooling, norms, softmax and elementwise
/// operators, 0 for what only moves data.
double flops_of(torch::jit::Node* node, std::span<const c10::IValue> inputs,
                std::span<const c10::IValue> outputs);

}  // namespace pareto::model
