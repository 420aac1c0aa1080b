#include "runtime/kernels/activation.h"

#include <ATen/ATen.h>

namespace pareto::runtime::kernels {

void apply(const Activation& activation, at::Tensor& tensor) {
  switch (activation.kind) {
    case Activation::Kind::kNone:
      return;
    case Activation::Kind::kRelu:
      tensor.relu_();
      return;
    case Activation::Kind::kClamp:
      tensor.clamp_(activation.low, activation.high);
      return;
    case Activation::Kind::kHardswish:
      at::hardswish_(tensor);
      return;
    case Activation::Kind::kSilu:
      at::silu_(tensor);
      return;
    case Activation::Kind::kSigmoid:
      tensor.sigmoid_();
      return;
    case Activation::Kind::kHardsigmoid:
      at::hardsigmoid_(tensor);
      return;
  }
}

}  // namespace pareto::runtime::kernels
