#include "runtime/torch/packed_weights.h"

#include <ATen/core/class_type.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/function.h>

#include <stdexcept>
#include <string>

namespace pareto::runtime {

at::Tensor weight_of(const c10::IValue& packed) {
  // LinearPackedParamsBase, Conv2dPackedParamsBase or Conv3dPackedParamsBase.
  const std::string kind = packed.toObjectRef().type()->name().value().name();
  const char* const unpack = kind.starts_with("Linear")   ? "quantized::linear_unpack"
                             : kind.starts_with("Conv2d") ? "quantized::conv2d_unpack"
                                                          : "quantized::conv3d_unpack";
  torch::jit::Stack stack{packed};
  c10::Dispatcher::singleton().findSchemaOrThrow(unpack, "").callBoxed(&stack);
  return stack.at(0).toTensor();
}

std::vector<at::Tensor> weights_of_cell(const c10::IValue& cell) {
  torch::jit::Stack stack{cell};
  cell.toObjectRef().type()->getMethod("__getstate__").run(stack);
  // Its kind, tensors, numbers of both kinds, and packed weights.
  const std::vector<c10::IValue> parts = stack.at(0).toTupleRef().elements().vec();
  std::vector<at::Tensor> weights;
  for (const c10::IValue& packed : parts.at(4).toList().vec()) {
    weights.push_back(weight_of(packed));
  }
  if (weights.empty()) weights = parts.at(1).toTensorVector();
  if (weights.size() < 2) throw std::runtime_error("a recurrent cell lacks weights");
  return weights;
}

}  // namespace pareto::runtime
