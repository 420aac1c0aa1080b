#include "runtime/execution/joined_value.h"

#include <algorithm>

namespace pareto::runtime {

bool JoinedValue::is_placed() const {
  return std::ranges::all_of(placed, [](char there) { return there != 0; });
}

at::Tensor JoinedValue::put_together(const std::vector<c10::IValue>& pieces) {
  if (is_placed()) return whole;
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& piece : pieces) tensors.push_back(piece.toTensor());
  at::Tensor copy = at::cat(tensors, 0);
  sizes = copy.sizes().vec();
  strides = copy.strides().vec();
  options = copy.options();
  return copy;
}

void JoinedValue::renew() {
  std::ranges::fill(placed, 0);
  if (!sizes.empty()) whole = at::empty_strided(sizes, strides, options);
}

}  // namespace pareto::runtime
