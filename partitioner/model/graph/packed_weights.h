// Weights of quantised layers, which LibTorch packs into objects of its own. Sees LibTorch.
#pragma once

#include <torch/script.h>

#include <optional>
#include <vector>

namespace pareto::model {

/// Returns the tensors that a packed object is saved as; none if it is no such object. May throw
/// what LibTorch throws.
std::vector<at::Tensor> packed_tensors(const c10::IValue& value);

/// Returns the weight of a packed linear layer or convolution; none if it is no such object.
std::optional<at::Tensor> packed_weight(const c10::IValue& value);

}  // namespace pareto::model
