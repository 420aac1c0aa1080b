#include "runtime/training/optimiser.h"

#include <fmt/format.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <type_traits>

namespace pareto::runtime {
namespace {

using torch::optim::AdamParamState;
using torch::optim::AdamWParamState;
using torch::optim::SGDParamState;

/// Returns what an optimiser's states call a parameter: its address, which was a text before
/// LibTorch 2.
template <typename States>
auto key_of(const at::Tensor& parameter) {
  c10::TensorImpl* const address = parameter.unsafeGetTensorImpl();
  if constexpr (std::is_same_v<typename std::decay_t<States>::key_type, std::string>) {
    std::ostringstream text;
    text << address;
    return text.str();
  } else {
    return address;
  }
}

/// Returns the state that an optimiser has for a parameter; null: none yet.
template <typename States>
auto* find_state(States& states, const at::Tensor& parameter) {
  const auto found = states.find(key_of<States>(parameter));
  return found == states.end() ? nullptr : found->second.get();
}

template <typename State, typename States>
State& state_of(States& states, const at::Tensor& parameter) {
  if (auto* const found = find_state(states, parameter)) return static_cast<State&>(*found);
  auto made = std::make_unique<State>();
  State& state = *made;
  states[key_of<States>(parameter)] = std::move(made);
  return state;
}

std::unique_ptr<torch::optim::Optimizer> make(const plan::Optimiser& settings,
                                              const std::vector<at::Tensor>& parameters) {
  // Each step names its learning rate.
  constexpr double kUnset = 1e-3;
  const auto betas = std::make_tuple(settings.beta1, settings.beta2);
  if (settings.name == "adam") {
    return std::make_unique<torch::optim::Adam>(parameters,
                                                torch::optim::AdamOptions(kUnset)
                                                    .betas(betas)
                                                    .eps(settings.epsilon)
                                                    .weight_decay(settings.weight_decay));
  }
  if (settings.name == "adamw") {
    return std::make_unique<torch::optim::AdamW>(parameters,
                                                 torch::optim::AdamWOptions(kUnset)
                                                     .betas(betas)
                                                     .eps(settings.epsilon)
                                                     .weight_decay(settings.weight_decay));
  }
  return std::make_unique<torch::optim::SGD>(parameters, torch::optim::SGDOptions(kUnset)
                                                             .momentum(settings.momentum)
                                                             .nesterov(settings.nesterov)
                                                             .weight_decay(settings.weight_decay));
}

template <typename State, typename States>
void add_adam(const States& states, const NamedParameter& parameter, NamedTensors& list) {
  const auto* const found = find_state(states, parameter.second);
  if (found == nullptr) return;
  const auto& state = static_cast<const State&>(*found);
  const std::string prefix = kOptimiserPrefix + parameter.first;
  list.emplace_back(prefix + "/step", at::scalar_tensor(state.step(), at::kLong));
  list.emplace_back(prefix + "/exp_avg", state.exp_avg().detach().clone());
  list.emplace_back(prefix + "/exp_avg_sq", state.exp_avg_sq().detach().clone());
}

template <typename State, typename States>
bool restore_adam(States& states, const at::Tensor& parameter, const std::string& part,
                  const at::Tensor& tensor) {
  // A state that is refused leaves none behind: it would be half a one.
  if (part == "step") {
    state_of<State>(states, parameter).step(tensor.item<std::int64_t>());
  } else if (part == "exp_avg") {
    state_of<State>(states, parameter).exp_avg(tensor);
  } else if (part == "exp_avg_sq") {
    state_of<State>(states, parameter).exp_avg_sq(tensor);
  } else {
    return false;
  }
  return true;
}

}  // namespace

NamedOptimiser::NamedOptimiser(const plan::Optimiser& settings,
                               std::vector<NamedParameter> parameters)
    : parameters_(std::move(parameters)),
      has_momentum_(settings.momentum != 0),
      is_sgd_(settings.name == "sgd"),
      is_adamw_(settings.name == "adamw") {
  if (parameters_.empty()) return;
  std::vector<at::Tensor> tensors;
  for (const auto& [name, tensor] : parameters_) tensors.push_back(tensor);
  optimiser_ = make(settings, tensors);
}

void NamedOptimiser::step(double learning_rate) {
  if (!optimiser_) return;
  for (auto& group : optimiser_->param_groups()) group.options().set_lr(learning_rate);
  optimiser_->step();
}

NamedTensors NamedOptimiser::state() const {
  NamedTensors list;
  if (!optimiser_) return list;
  const auto& states = optimiser_->state();
  for (const NamedParameter& parameter : parameters_) {
    if (!is_sgd_) {
      is_adamw_ ? add_adam<AdamWParamState>(states, parameter, list)
                : add_adam<AdamParamState>(states, parameter, list);
      continue;
    }
    const auto* const found = find_state(states, parameter.second);
    if (found == nullptr || !has_momentum_) continue;
    const auto& momentum = static_cast<const SGDParamState&>(*found).momentum_buffer();
    if (!momentum.defined()) continue;
    list.emplace_back(kOptimiserPrefix + parameter.first + "/momentum_buffer",
                      momentum.detach().clone());
  }
  return list;
}

at::Tensor NamedOptimiser::parameter_of(const std::string& name, std::string& part) const {
  const std::string rest = name.substr(std::string_view(kOptimiserPrefix).size());
  const std::size_t slash = rest.rfind('/');
  part = slash == std::string::npos ? "" : rest.substr(slash + 1);
  const auto found = std::ranges::find(parameters_, rest.substr(0, slash), &NamedParameter::first);
  if (found == parameters_.end()) {
    throw std::runtime_error(fmt::format("{}: the stage trains no such parameter", name));
  }
  return found->second;
}

void NamedOptimiser::restore(const std::string& name, const at::Tensor& tensor) {
  std::string part;
  const at::Tensor parameter = parameter_of(name, part);
  const bool fits = part == "step" ? tensor.numel() == 1 && tensor.scalar_type() == at::kLong
                                   : tensor.sizes() == parameter.sizes() &&
                                         tensor.scalar_type() == parameter.scalar_type();
  if (!fits) throw std::runtime_error(fmt::format("{}: not the parameter's shape or dtype", name));
  auto& states = optimiser_->state();
  const at::Tensor own = tensor.to(parameter.device()).clone();
  bool known = part == "momentum_buffer" && is_sgd_;
  if (known) {
    state_of<SGDParamState>(states, parameter).momentum_buffer(own);
  } else if (!is_sgd_) {
    known = is_adamw_ ? restore_adam<AdamWParamState>(states, parameter, part, own)
                      : restore_adam<AdamParamState>(states, parameter, part, own);
  }
  if (!known) throw std::runtime_error(fmt::format("{}: the optimiser has no such state", name));
}

}  // namespace pareto::runtime
