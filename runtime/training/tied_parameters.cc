#include "runtime/training/tied_parameters.h"

#include <algorithm>

#include "runtime/torch/convert.h"

namespace pareto::runtime {

Expected<at::Tensor> TiedParameters::fitting(const Entry& entry, const Tensor& gradient) const {
  if (entry.parameter.sizes() != at::IntArrayRef(gradient.shape()) ||
      from_scalar_type(entry.parameter.scalar_type()) != gradient.dtype()) {
    return fail(ErrorCode::kInvalidArgument, "the gradient of {} has another shape",
                entry.tied.name);
  }
  return to_torch(gradient).to(device_);
}

Expected<TiedParameters::Later> TiedParameters::take_later(plan::TiedGradients came,
                                                           plan::TiedGradients& passed) {
  for (auto& [name, entry] : parameters_) entry.parameter.mutable_grad() = at::Tensor();
  Later later;
  for (auto& [name, gradient] : came) {
    const auto found = parameters_.find(name);
    if (found == parameters_.end()) {
      passed.emplace_back(name, std::move(gradient));
      continue;
    }
    PARETO_ASSIGN(at::Tensor tensor, fitting(found->second, gradient));
    later.emplace_back(found->second.parameter, std::move(tensor));
  }
  return later;
}

Expected<> TiedParameters::pass_or_sum(plan::TiedGradients& passed) {
  for (auto& [name, entry] : parameters_) {
    const at::Tensor& gradient = entry.parameter.grad();
    if (!gradient.defined()) continue;
    if (entry.tied.earlier) {
      PARETO_ASSIGN(Tensor bytes, from_torch(gradient));
      passed.emplace_back(name, std::move(bytes));
    } else {
      entry.sum = entry.sum.defined() ? entry.sum.add(gradient) : gradient;
    }
  }
  return {};
}

bool TiedParameters::is_earlier(const std::string& name) const {
  const auto found = parameters_.find(name);
  return found != parameters_.end() && found->second.tied.earlier;
}

at::Tensor TiedParameters::gradient_of(const std::string& name, const at::Tensor& parameter) const {
  const auto found = parameters_.find(name);
  return found == parameters_.end() ? parameter.grad() : found->second.sum;
}

Expected<> TiedParameters::take_sums(plan::TiedGradients& sums) {
  for (auto& [name, entry] : parameters_) {
    at::Tensor& gradient = entry.parameter.mutable_grad();
    gradient = at::Tensor();
    if (!entry.tied.earlier) {
      const at::Tensor total = std::exchange(entry.sum, at::Tensor());
      if (!total.defined()) continue;
      // The bytes of the sum travel on: the optimiser may change its own copy.
      gradient = total.clone();
      PARETO_ASSIGN(Tensor sum, from_torch(total));
      sums.emplace_back(name, std::move(sum));
      continue;
    }
    const auto found = std::ranges::find(sums, name, &std::pair<std::string, Tensor>::first);
    if (found == sums.end()) continue;
    PARETO_ASSIGN(const at::Tensor sum, fitting(entry, found->second));
    gradient = sum.clone();
  }
  return {};
}

}  // namespace pareto::runtime
