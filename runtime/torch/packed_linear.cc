#include "runtime/torch/packed_linear.h"

#include <ATen/core/class_type.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/function.h>

#include <stdexcept>

namespace pareto::runtime {

at::Tensor weight_of_linear(const c10::IValue& packed) {
  static const c10::OperatorHandle kUnpack =
      c10::Dispatcher::singleton().findSchemaOrThrow("quantized::linear_unpack", "");
  torch::jit::Stack stack{packed};
  kUnpack.callBoxed(&stack);
  return stack.at(0).toTensor();
}

std::vector<at::Tensor> weights_of_cell(const c10::IValue& cell) {
  torch::jit::Stack stack{cell};
  cell.toObjectRef().type()->getMethod("__getstate__").run(stack);
  // Its kind, tensors, numbers of both kinds, and packed weights.
  const auto& parts = stack.at(0).toTupleRef().elements();
  std::vector<at::Tensor> weights;
  for (const c10::IValue& packed : parts.at(4).toList().vec()) {
    weights.push_back(weight_of_linear(packed));
  }
  if (weights.empty()) weights = parts.at(1).toTensorVector();
  if (weights.size() < 2) throw std::runtime_error("a recurrent cell lacks weights");
  return weights;
}

}  // namespace pareto::runtime
