#include "partitioner/model/graph/packed_weights.h"

#include <algorithm>

namespace pareto::model {

std::vector<at::Tensor> packed_tensors(const c10::IValue& value) {
  std::vector<at::Tensor> tensors;
  if (!value.isCustomClass()) return tensors;
  torch::jit::Function* get_state =
      value.type()->expect<c10::ClassType>()->findMethod("__getstate__");
  if (get_state == nullptr) return tensors;
  (*get_state)({value}).visit([&](const c10::IValue& part) {
    if (part.isTensor() && part.toTensor().defined()) tensors.push_back(part.toTensor());
    // Cells of recurrent layers hold packed objects themselves.
    if (!part.isCustomClass()) return part.isTensor();
    const auto inner = packed_tensors(part);
    tensors.insert(tensors.end(), inner.begin(), inner.end());
    return true;
  });
  return tensors;
}

std::optional<at::Tensor> packed_weight(const c10::IValue& value) {
  for (const at::Tensor& tensor : packed_tensors(value)) {
    if (tensor.is_quantized()) return tensor;
  }
  return std::nullopt;
}

}  // namespace pareto::model
