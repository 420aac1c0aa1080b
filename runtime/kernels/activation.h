// The activation after a convolution or a linear layer, inside the same kernel. Sees LibTorch: for
// runtime sources only.
#pragma once

#include <ATen/core/Tensor.h>

namespace pareto::runtime::kernels {

/// The function that is applied to every element of the result.
struct Activation {
  enum class Kind { kNone, kRelu, kClamp, kHardswish, kSilu, kSigmoid, kHardsigmoid };
  Kind kind = Kind::kNone;
  float low = 0;   ///< kClamp
  float high = 0;  ///< kClamp
};

/// Applies it in place, by ATen.
void apply(const Activation& activation, at::Tensor& tensor);

}  // namespace pareto::runtime::kernels
