// A stage's optimiser, and its state by name. It includes LibTorch: include it only in sources of
// runtime.
#pragma once

#include <torch/optim/optimizer.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/training.h"

namespace pareto::runtime {

/// A parameter by its name.
using NamedParameter = std::pair<std::string, at::Tensor>;
using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// Begins the names of an optimiser's state.
inline constexpr const char* kOptimiserPrefix = "optimiser/";

/// LibTorch's optimiser for parameters with names.
///
/// Threads: one at a time. Members may throw c10::Error.
class NamedOptimiser {
 public:
  /// There may be no parameters at all.
  NamedOptimiser(const plan::Optimiser& settings, std::vector<NamedParameter> parameters);

  /// Steps all parameters that have a gradient. Gradients stay.
  void step(double learning_rate);
  /// Returns copies of its state: "optimiser/NAME/momentum_buffer", "…/exp_avg", "…/exp_avg_sq",
  /// and "…/step", an int64 scalar. Parameters that have not stepped have none.
  NamedTensors state() const;
  /// Takes one tensor of a state. Throws std::runtime_error if there is no such parameter, or if it
  /// has another shape.
  void restore(const std::string& name, const at::Tensor& tensor);

 private:
  at::Tensor parameter_of(const std::string& name, std::string& part) const;

  const std::vector<NamedParameter> parameters_;
  const bool has_momentum_;
  const bool is_sgd_;
  const bool is_adamw_;
  std::unique_ptr<torch::optim::Optimizer> optimiser_;  ///< null: no parameters
};

}  // namespace pareto::runtime
