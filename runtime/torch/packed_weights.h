// Weights that LibTorch has packed for layers of few bits. Sees LibTorch: for sources of runtime
// only.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>

#include <vector>

namespace pareto::runtime {

/// Returns the weight of a packed linear layer, a row for each of its outputs, or of a packed
/// convolution. If LibTorch still has what it packed, nothing is copied. Throws: std::exception (it
/// is no such layer).
at::Tensor weight_of(const c10::IValue& packed);

/// Returns both weights of a cell of a recurrent layer: for its input, and for its state. Throws:
/// std::exception (it is no such cell).
std::vector<at::Tensor> weights_of_cell(const c10::IValue& cell);

}  // namespace pareto::runtime
