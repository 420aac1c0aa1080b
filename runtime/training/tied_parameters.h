// Parameters that several stages have: their gradients as they pass. It includes LibTorch: include
// it only in sources of runtime.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/plan/training.h"
#include "core/plan/training_values.h"

namespace pareto::runtime {

/// The tied parameters of one stage. Autograd adds what later stages have of a gradient first, as
/// it does in the uncut model. Those of each micro-batch go up to the first stage, which sums them.
///
/// Threads: one at a time. Members may throw c10::Error.
/// Fails: kInvalidArgument (a gradient of another shape or dtype), kExhausted.
class TiedParameters {
 public:
  explicit TiedParameters(c10::Device device) : device_(device) {}

  void add(const plan::TiedParameter& tied, const at::Tensor& parameter) {
    parameters_[tied.name] = {tied, parameter, {}};
  }

  /// A parameter, and what later stages have of its gradient.
  using Later = std::vector<std::pair<at::Tensor, at::Tensor>>;
  /// Clears the gradients of a micro-batch. Returns what came of later stages; what this stage does
  /// not have is added to `passed`.
  Expected<Later> take_later(plan::TiedGradients came, plan::TiedGradients& passed);
  /// Adds the gradients of a micro-batch to their sums, if this is the first stage that has them,
  /// or to `passed`.
  Expected<> pass_or_sum(plan::TiedGradients& passed);

  /// Returns whether an earlier stage has it too, which then counts it.
  bool is_earlier(const std::string& name) const;
  /// Returns the gradient of a step: the sum of what was tied, or the parameter's own.
  at::Tensor gradient_of(const std::string& name, const at::Tensor& parameter) const;

  /// Gives each its gradient of the step: this stage's sum, which is added to `sums`, or the one
  /// from there.
  Expected<> take_sums(plan::TiedGradients& sums);

 private:
  struct Entry {
    plan::TiedParameter tied;
    at::Tensor parameter;
    at::Tensor sum;
  };
  Expected<at::Tensor> fitting(const Entry& entry, const Tensor& gradient) const;

  const c10::Device device_;
  std::map<std::string, Entry> parameters_;
};

}  // namespace pareto::runtime
