#include "coordinator/train/training_replay.h"

#include <bit>
#include <cstring>
#include <thread>
#include <utility>

#include "coordinator/train/local_pipeline.h"

namespace pareto::train {
namespace {

constexpr std::uint64_t kReplaySeed = 1;
constexpr double kReplayRate = 0.01;
constexpr std::string_view kOptimiserPart = "optimiser/";

/// Returns the plan of the whole model in one stage.
plan::Plan uncut(const model::Model& model, const plan::Plan& plan) {
  plan::Plan whole;
  whole.model = plan.model;
  whole.batch = plan.batch;
  whole.stages.push_back({plan.stages.front().device, 0, std::ssize(model.graph().operators)});
  return whole;
}

/// Returns what a tensor of a state is to people: "the gradient of conv.weight".
std::string title_of(const std::string& name) {
  constexpr std::string_view kEnd = "/momentum_buffer";
  if (!name.starts_with(kOptimiserPart) || !name.ends_with(kEnd)) return name + " after a step";
  return "the gradient of " +
         name.substr(kOptimiserPart.size(), name.size() - kOptimiserPart.size() - kEnd.size());
}

Expected<std::string> compare_steps(const model::Model& model, const model::Model& loss,
                                    const plan::Plan& plan, int threads) {
  PARETO_ASSIGN(const ReplayedStep whole,
                with_context(replay_step(model, loss, uncut(model, plan), threads),
                             "training the whole model at batch {}", plan.batch));
  PARETO_ASSIGN(const ReplayedStep cut, replay_step(model, loss, plan, threads));
  return first_difference(whole, cut);
}

}  // namespace

Expected<Value> zero_labels(std::int64_t batch) {
  PARETO_ASSIGN(Tensor labels, Tensor::allocate(DType::kInt64, {batch}));
  std::memset(labels.mutable_bytes().data(), 0, labels.size_bytes());
  return Value(std::move(labels));
}

Expected<ReplayedStep> replay_step(const model::Model& model, const model::Model& loss,
                                   const plan::Plan& plan, int threads) {
  plan::TrainingSettings settings;
  settings.optimiser.momentum = 0.9;
  PARETO_ASSIGN(const auto pipeline, open_local_pipeline(model, loss, plan, settings, {}, threads));
  MicroBatch batch;
  PARETO_ASSIGN(batch.inputs, model.example_inputs(plan.batch, kReplaySeed));
  PARETO_ASSIGN(batch.target, zero_labels(plan.batch));
  batch.samples = plan.batch;
  StepOrder order;
  order.seed = kReplaySeed;
  order.learning_rate = kReplayRate;
  PARETO_ASSIGN(const StepOutcome outcome, pipeline->step({std::move(batch)}, order));
  PARETO_ASSIGN(auto state, pipeline->state());
  return ReplayedStep{outcome.loss, std::move(state)};
}

std::string first_difference(const ReplayedStep& whole, const ReplayedStep& cut) {
  if (std::bit_cast<std::uint64_t>(whole.loss) != std::bit_cast<std::uint64_t>(cut.loss)) {
    return fmt::format("the loss is {} and not {}", cut.loss, whole.loss);
  }
  if (whole.state.size() != cut.state.size()) {
    return fmt::format("{} tensors are trained, and not {}", cut.state.size(), whole.state.size());
  }
  // Gradients say more than what they change.
  for (const bool is_gradient : {true, false}) {
    for (std::size_t i = 0; i < whole.state.size(); ++i) {
      const plan::StateTensor& expected = whole.state[i];
      const plan::StateTensor& actual = cut.state[i];
      if (expected.name.starts_with(kOptimiserPart) != is_gradient) continue;
      if (expected.name == actual.name && bit_equal(Value(expected.tensor), Value(actual.tensor))) {
        continue;
      }
      return title_of(expected.name) + " differs";
    }
  }
  return {};
}

Expected<std::string> training_difference(const model::Model& model, const model::Model& loss,
                                          const plan::Plan& plan, int threads) {
  // The number of threads that trainers set is that of their own thread.
  Expected<std::string> difference;
  std::jthread([&] { difference = compare_steps(model, loss, plan, threads); }).join();
  return difference;
}

}  // namespace pareto::train
