#include "core/runtime/kernels/convolution_methods.h"

namespace pareto::runtime {

std::optional<ConvolutionMethod> ConvolutionMethods::find(const Key& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(key);
  return found != known_.end() ? std::optional(found->second) : std::nullopt;
}

void ConvolutionMethods::keep(const Key& key, ConvolutionMethod method) {
  const std::lock_guard lock(mutex_);
  if (known_.size() < kMost) known_.emplace(key, method);
}

ConvolutionMethods& convolution_methods() {
  static ConvolutionMethods known;
  return known;
}

}  // namespace pareto::runtime
