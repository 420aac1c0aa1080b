#include "runtime/training/trainer.h"

#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/shard_module.h"
#include "runtime/torch/compat.h"
#include "runtime/torch/convert.h"
#include "runtime/torch/device_name.h"
#include "runtime/torch/guarded.h"
#include "runtime/torch/interruption.h"
#include "runtime/torch/map_tensors.h"
#include "runtime/torch/memory_limit.h"
#include "runtime/torch/shard_boundary.h"
#include "runtime/torch/threads.h"
#include "runtime/torch/written_weights.h"
#include "runtime/training/loss.h"
#include "runtime/training/optimiser.h"
#include "runtime/training/random_numbers.h"
#include "runtime/training/tied_parameters.h"
#include "runtime/training/training_graph.h"
#include "runtime/training/write_count.h"

namespace pareto::runtime {
namespace {

using plan::Activations;
using plan::Gradients;

/// Threads, warnings, gradients, stop flag and memory limit during one call into LibTorch.
class TrainingScope {
 public:
  TrainingScope(const RunnerOptions& options, bool with_gradients)
      : quiet_(&drop_),
        gradients_(with_gradients),
        stop_(options.stop.get()),
        memory_(options.memory_bytes) {
    set_thread_count(options.threads);
  }

 private:
  DropWarnings drop_;
  warning_api::WarningHandlerGuard quiet_;
  c10::AutoGradMode gradients_;
  const StopScope stop_;
  const MemoryScope memory_;
};

/// Tensors of a micro-batch that went forward.
struct Kept {
  std::vector<at::Tensor> leaves;  ///< one for each tensor of the inputs; undefined: not wanted
  std::vector<at::Tensor> roots;   ///< one for each tensor of the outputs, or the weighted loss
};

/// Returns which arguments of "run" the graph may write to.
std::vector<bool> find_written(torch::jit::Graph& graph) {
  const auto tensors = written_tensors(graph);
  const bool writes = writes_anything(graph.block());
  std::vector<bool> written;
  for (const torch::jit::Value* input : graph.inputs().slice(1)) {
    const bool tensor = input->type()->kind() == c10::TypeKind::TensorType;
    written.push_back(tensor ? std::ranges::find(tensors, input) != tensors.end() : writes);
  }
  return written;
}

/// Returns whether autograd differentiates by such numbers.
bool has_gradient(const at::Tensor& one) { return one.is_floating_point() || one.is_complex(); }

class TrainingRunner final : public ShardRunner, public Trainer {
 public:
  TrainingRunner(const plan::Shard& shard, const RunnerOptions& options, torch::jit::Module module,
                 c10::Device device)
      : settings_(options.training->settings),
        options_(options),
        device_(device),
        module_(std::move(module)),
        boundary_(module_, shard, device),
        tied_(device) {
    report_.engine = "training";
    report_.weight_bytes = shard.weight_bytes();
  }

  /// Gives the module parameters of its own, and makes the graphs. May throw.
  Expected<> prepare(const plan::Shard& shard, const WeightSource& weights) {
    for (const plan::WeightRef& weight : shard.weights) {
      at::Tensor own = module_.attr(weight.name).toTensor().detach().clone();
      const bool trains = weight.is_parameter && has_gradient(own) &&
                          !plan::is_frozen(settings_.frozen, weight.name);
      if (trains) trained_.emplace_back(weight.name, own.requires_grad_(true));
      weights_.emplace_back(weight.name, own);
      module_._ivalue()->setAttr(weight.name, own);
    }
    std::ranges::sort(trained_, {}, &NamedParameter::first);
    std::ranges::sort(weights_, {}, &NamedParameter::first);
    for (const plan::TiedParameter& tied : settings_.tied) {
      if (const auto* trained = find_trained(tied.name)) tied_.add(tied, *trained);
    }
    optimiser_.emplace(settings_.optimiser, trained_);
    PARETO_TRY(restore(weights));
    const auto graph = module_.get_method("run").graph();
    auto evaluated = graph->copy();
    copy_written_weights(*evaluated);
    const auto is_frozen = [&](const std::string& path) {
      return plan::is_frozen(settings_.frozen, path);
    };
    PARETO_TRY(check_trainable(*graph, is_frozen));
    auto trained = training_graph(*graph, is_frozen);
    written_ = find_written(*trained);
    draws_ = draws_random_numbers(*trained);
    evaluate_.emplace(compile_graph(evaluated, "run"));
    for_each_called(module_, insert_write_counts);
    train_.emplace(compile_graph(trained, "run"));
    if (options_.training->loss) {
      PARETO_ASSIGN(
          loss_, with_context(Loss::load(*options_.training->loss, weights, device_), "the loss"));
    }
    return {};
  }

  // ShardRunner
  Expected<std::vector<Value>> run(std::vector<Value> inputs) override {
    const TrainingScope scope(options_, false);
    return guarded("evaluating the shard", [&]() -> Expected<std::vector<Value>> {
      PARETO_ASSIGN(auto arguments, boundary_.to_arguments(inputs));
      return boundary_.to_values(run_code(*evaluate_, module_._ivalue(), std::move(arguments)));
    });
  }
  Expected<ShardProfile> profile(std::vector<Value>, int,
                                 const std::vector<std::int64_t>&) override {
    return fail(ErrorCode::kInvalidArgument, "a shard that is trained has no profile");
  }
  const LoadReport& report() const override { return report_; }
  Trainer* trainer() override { return this; }

  // Trainer
  const plan::TrainingSettings& settings() const override { return settings_; }

  Expected<Activations> forward(std::uint32_t micro_batch, const Activations& inputs) override {
    const TrainingScope scope(options_, true);
    const WriteCountScope writes;
    return guarded("going forward", [&]() -> Expected<Activations> {
      Activations passed;
      PARETO_ASSIGN(const auto results, run_forward(micro_batch, inputs, &passed.random));
      std::vector<at::Tensor>& roots = kept_[micro_batch].roots;
      for (std::size_t i = 0; i < results.size(); ++i) {
        const c10::IValue detached = map_tensors(results[i], [&](const at::Tensor& tensor) {
          passed.wants_gradient.push_back(tensor.requires_grad());
          roots.push_back(tensor.requires_grad() ? tensor : at::Tensor());
          return tensor.detach();
        });
        PARETO_ASSIGN(Value value, boundary_.to_value(i, detached));
        passed.values.push_back(std::move(value));
      }
      return passed;
    });
  }

  Expected<plan::Outcome> forward_to_loss(std::uint32_t micro_batch, const Activations& inputs,
                                          const plan::Target& target) override {
    const TrainingScope scope(options_, true);
    const WriteCountScope writes;
    return guarded("going forward", [&]() -> Expected<plan::Outcome> {
      if (!loss_) return fail(ErrorCode::kInvalidArgument, "the stage has no loss");
      PARETO_ASSIGN(const auto results, run_forward(micro_batch, inputs, nullptr));
      const at::Tensor loss = loss_->compute(results, target.value);
      if (loss.requires_grad()) kept_[micro_batch].roots.push_back(loss * target.weight);
      return plan::Outcome{loss.item<double>(),
                           results.empty() ? -1 : count_correct(results.front(), target.value)};
    });
  }

  Expected<Gradients> backward(std::uint32_t micro_batch, Gradients gradients) override {
    const TrainingScope scope(options_, true);
    return guarded("going backward", [&]() -> Expected<Gradients> {
      const auto found = kept_.find(micro_batch);
      if (found == kept_.end()) {
        return fail(ErrorCode::kInvalidArgument, "micro-batch {} has not gone forward",
                    micro_batch);
      }
      const Kept kept = std::move(found->second);
      kept_.erase(found);
      Gradients passed;
      PARETO_ASSIGN(const auto later, tied_.take_later(std::move(gradients.tied), passed.tied));
      PARETO_TRY(run_backward(kept, gradients.values, later));
      passed.norms = std::move(gradients.norms);
      for (const at::Tensor& leaf : kept.leaves) {
        if (!leaf.defined() || !leaf.grad().defined()) {
          passed.values.emplace_back();
          continue;
        }
        PARETO_ASSIGN(Tensor gradient, from_torch(leaf.grad()));
        passed.values.emplace_back(std::move(gradient));
      }
      PARETO_TRY(tied_.pass_or_sum(passed.tied));
      return passed;
    });
  }

  Expected<std::vector<plan::GradientNorm>> norms() override {
    const TrainingScope scope(options_, false);
    return guarded("norms of gradients", [&]() -> Expected<std::vector<plan::GradientNorm>> {
      std::vector<plan::GradientNorm> norms;
      for (const auto& [name, parameter] : trained_) {
        if (tied_.is_earlier(name)) continue;
        const at::Tensor gradient = tied_.gradient_of(name, parameter);
        if (gradient.defined()) norms.emplace_back(name, gradient.norm().item<double>());
      }
      return norms;
    });
  }

  Expected<plan::StepCommand> step(plan::StepCommand command) override {
    const TrainingScope scope(options_, false);
    return guarded("the optimiser's step", [&]() -> Expected<plan::StepCommand> {
      if (!kept_.empty()) {
        return fail(ErrorCode::kInvalidArgument, "micro-batch {} has not come back",
                    kept_.begin()->first);
      }
      PARETO_TRY(tied_.take_sums(command.tied));
      for (auto& [name, parameter] : trained_) {
        at::Tensor& gradient = parameter.mutable_grad();
        if (gradient.defined() && command.scale != 1) gradient.mul_(command.scale);
      }
      optimiser_->step(command.learning_rate);
      for (auto& [name, parameter] : trained_) parameter.mutable_grad() = at::Tensor();
      return command;
    });
  }

  Expected<std::vector<plan::StateTensor>> state() override {
    const TrainingScope scope(options_, false);
    return guarded("the state", [&]() -> Expected<std::vector<plan::StateTensor>> {
      std::vector<plan::StateTensor> state;
      const auto add = [&](const std::string& name, const at::Tensor& tensor) -> Expected<> {
        PARETO_ASSIGN(Tensor copy, from_torch(tensor.detach().clone()));
        state.push_back({name, std::move(copy)});
        return {};
      };
      for (const auto& [name, tensor] : weights_) PARETO_TRY(add(name, tensor));
      for (const auto& [name, tensor] : optimiser_->state()) PARETO_TRY(add(name, tensor));
      return state;
    });
  }

 private:
  at::Tensor* find_trained(const std::string& name) {
    const auto found = std::ranges::find(trained_, name, &NamedParameter::first);
    return found == trained_.end() ? nullptr : &found->second;
  }

  /// Puts the tensors of an earlier training into the parameters and the optimiser.
  Expected<> restore(const WeightSource& weights) {
    const c10::NoGradGuard no_gradients;
    for (const plan::WeightRef& saved : settings_.state) {
      PARETO_ASSIGN(const Tensor bytes, fetch_weight(saved, weights));
      if (saved.name.starts_with(kOptimiserPrefix)) {
        optimiser_->restore(saved.name, to_torch(bytes));
        continue;
      }
      const auto found = std::ranges::find(weights_, saved.name, &NamedParameter::first);
      if (found == weights_.end() || found->second.sizes() != at::IntArrayRef(saved.shape) ||
          from_scalar_type(found->second.scalar_type()) != saved.dtype) {
        return fail(ErrorCode::kCorrupt, "the state's {} is none of the shard's weights",
                    saved.name);
      }
      found->second.copy_(to_torch(bytes));
    }
    return {};
  }

  /// Runs the graph, and keeps what backward needs. Sets `random` for the stage behind.
  Expected<std::vector<c10::IValue>> run_forward(std::uint32_t micro_batch,
                                                 const Activations& inputs, Value* random) {
    if (kept_.contains(micro_batch)) {
      return fail(ErrorCode::kInvalidArgument, "micro-batch {} has gone forward already",
                  micro_batch);
    }
    Kept kept;
    PARETO_ASSIGN(auto arguments, take_inputs(inputs, kept));
    std::vector<c10::IValue> results;
    {
      std::optional<RandomTurn> turn;
      if (draws_) turn.emplace(inputs.random, device_);
      const AutocastScope autocast(settings_.bf16, device_.is_cuda());
      results = run_code(*train_, module_._ivalue(), std::move(arguments));
      if (random != nullptr) *random = inputs.random;
      if (random != nullptr && turn) {
        PARETO_ASSIGN(*random, turn->state());
      }
    }
    for (std::size_t i = 0; settings_.bf16 && i < results.size(); ++i) {
      results[i] = map_tensors(results[i], [](const at::Tensor& tensor) {
        return tensor.scalar_type() == at::kBFloat16 ? tensor.to(at::kFloat) : tensor;
      });
    }
    kept_[micro_batch] = std::move(kept);
    return results;
  }

  /// Returns the arguments of "run". Tensors whose gradient is wanted become leaves.
  Expected<std::vector<c10::IValue>> take_inputs(const Activations& inputs, Kept& kept) const {
    PARETO_ASSIGN(auto arguments, boundary_.to_arguments(inputs.values));
    const std::vector<bool>& wanted = inputs.wants_gradient;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      arguments[i] = map_tensors(arguments[i], [&](const at::Tensor& tensor) {
        const std::size_t index = kept.leaves.size();
        kept.leaves.emplace_back();
        if (index >= wanted.size() || !wanted[index] || !has_gradient(tensor)) return tensor;
        const at::Tensor leaf = tensor.detach().requires_grad_(true);
        kept.leaves.back() = leaf;
        // An operator may not write to a leaf.
        return written_[i] ? leaf.clone() : leaf;
      });
    }
    if (!wanted.empty() && wanted.size() != kept.leaves.size()) {
      return fail(ErrorCode::kInvalidArgument, "{} tensors came with {} requests for gradients",
                  kept.leaves.size(), wanted.size());
    }
    return arguments;
  }

  /// `later` are roots too: autograd then sums gradients in the order of the uncut model.
  Expected<> run_backward(const Kept& kept, const std::vector<Value>& gradients,
                          const TiedParameters::Later& later) const {
    std::vector<at::Tensor> roots;
    std::vector<at::Tensor> given;
    for (const auto& [parameter, gradient] : later) {
      roots.push_back(parameter);
      given.push_back(gradient);
    }
    if (loss_) {
      roots.insert(roots.end(), kept.roots.begin(), kept.roots.end());
      given.resize(roots.size());
    } else {
      if (gradients.size() != kept.roots.size()) {
        return fail(ErrorCode::kInvalidArgument, "{} gradients for {} tensors", gradients.size(),
                    kept.roots.size());
      }
      for (std::size_t i = 0; i < gradients.size(); ++i) {
        const Tensor* const gradient = gradients[i].get_if<Tensor>();
        const at::Tensor& root = kept.roots[i];
        if (gradient == nullptr || !root.defined()) continue;
        if (root.sizes() != at::IntArrayRef(gradient->shape()) ||
            from_scalar_type(root.scalar_type()) != gradient->dtype()) {
          return fail(ErrorCode::kInvalidArgument, "gradient {} is {}, its tensor {}", i,
                      pareto::to_string(gradient->shape()), pareto::to_string(root.sizes().vec()));
        }
        roots.push_back(root);
        given.push_back(to_torch(*gradient).to(device_));
      }
    }
    if (!roots.empty()) torch::autograd::backward(roots, given);
    return {};
  }

  const plan::TrainingSettings settings_;
  const RunnerOptions options_;
  const c10::Device device_;
  torch::jit::Module module_;
  const ShardBoundary boundary_;
  std::vector<NamedParameter> weights_;  ///< all of the shard's, by name
  std::vector<NamedParameter> trained_;  ///< those that change, by name
  TiedParameters tied_;
  std::optional<NamedOptimiser> optimiser_;
  std::optional<torch::jit::Code> evaluate_;
  std::optional<torch::jit::Code> train_;
  std::optional<Loss> loss_;
  std::vector<bool> written_;
  bool draws_ = false;
  std::map<std::uint32_t, Kept> kept_;
  LoadReport report_;
};

}  // namespace

Expected<std::unique_ptr<ShardRunner>> load_runner(const plan::Shard& shard,
                                                   const WeightSource& weights,
                                                   const RunnerOptions& options) {
  if (!options.training) return ShardRunner::load(shard, weights, options);
  PARETO_TRY(check_run(options));
  if (shard.packed_bytes > 0) {
    return fail(ErrorCode::kInvalidArgument, "quantised weights cannot be trained");
  }
  // The profiling executor would put formulas of its own in place of autograd's.
  torch::jit::getProfilingMode() = false;
  PARETO_ASSIGN(const c10::Device device, parse_device(options.device));
  PARETO_ASSIGN(torch::jit::Module module,
                load_module(shard, weights, device, WrittenWeights::kWritten));
  return guarded("loading the shard", [&]() -> Expected<std::unique_ptr<ShardRunner>> {
    auto runner = std::make_unique<TrainingRunner>(shard, options, std::move(module), device);
    PARETO_TRY(runner->prepare(shard, weights));
    return runner;
  });
}

}  // namespace pareto::runtime
