#include "coordinator/train/local_pipeline.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "coordinator/train/step_numbers.h"
#include "coordinator/train/training_stages.h"
#include "core/base/clock.h"
#include "partitioner/model/emit/emit.h"
#include "runtime/shard_runner.h"
#include "runtime/training/trainer.h"

namespace pareto::train {
namespace {

constexpr const char* kThisProcess = "this process";

/// Adds how long a scope took to a duration.
class AddTime {
 public:
  explicit AddTime(Nanoseconds& sum) : sum_(sum), begun_(clock_.now()) {}
  ~AddTime() { sum_ += clock_.now() - begun_; }
  AddTime(const AddTime&) = delete;
  AddTime& operator=(const AddTime&) = delete;

 private:
  Nanoseconds& sum_;
  SteadyClock clock_;
  TimePoint begun_;
};

class LocalPipeline final : public TrainingPipeline {
 public:
  explicit LocalPipeline(std::vector<std::unique_ptr<runtime::ShardRunner>> runners)
      : runners_(std::move(runners)), devices_(runners_.size(), kThisProcess) {}

  Expected<StepOutcome> step(const std::vector<MicroBatch>& batch,
                             const StepOrder& order) override {
    StepOutcome outcome;
    outcome.stages.resize(runners_.size());
    // Each goes back at once: then the activations of one micro-batch are kept.
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto number = static_cast<std::uint32_t>(i);
      PARETO_TRY(go_forward(batch, number, order, outcome));
      PARETO_TRY(go_backward(number, outcome));
    }
    PARETO_TRY(step_optimisers(order, outcome));
    return outcome;
  }

  Expected<std::vector<Value>> evaluate(std::vector<Value> inputs) override {
    for (const auto& runner : runners_) {
      PARETO_ASSIGN(inputs, runner->run(std::move(inputs)));
    }
    return inputs;
  }

  Expected<std::vector<plan::StateTensor>> state() override {
    std::map<std::string, Tensor> all;
    for (const auto& runner : runners_) {
      PARETO_ASSIGN(auto tensors, runner->trainer()->state());
      // A parameter of several stages is the same in each.
      for (plan::StateTensor& one : tensors) all.emplace(one.name, std::move(one.tensor));
    }
    std::vector<plan::StateTensor> state;
    for (auto& [name, tensor] : all) state.push_back({name, std::move(tensor)});
    return state;
  }

  const std::vector<std::string>& devices() const override { return devices_; }

 private:
  runtime::Trainer& trainer(std::size_t stage) { return *runners_[stage]->trainer(); }

  Expected<> go_forward(const std::vector<MicroBatch>& batch, std::uint32_t number,
                        const StepOrder& order, StepOutcome& outcome) {
    const MicroBatch& micro = batch[number];
    plan::Activations passing{micro.inputs, {}, random_seed(order, number)};
    for (std::size_t stage = 0; stage + 1 < runners_.size(); ++stage) {
      const AddTime time(outcome.stages[stage].forward);
      PARETO_ASSIGN(passing, trainer(stage).forward(number, passing));
    }
    const AddTime time(outcome.stages.back().forward);
    const double share = share_of(micro, batch);
    PARETO_ASSIGN(
        const plan::Outcome done,
        trainer(runners_.size() - 1).forward_to_loss(number, passing, {micro.target, share}));
    add_outcome(done, share, micro.samples, outcome);
    return {};
  }

  Expected<> go_backward(std::uint32_t number, StepOutcome& outcome) {
    plan::Gradients gradients;
    for (std::size_t stage = runners_.size(); stage-- > 0;) {
      const AddTime time(outcome.stages[stage].backward);
      PARETO_ASSIGN(gradients, trainer(stage).backward(number, std::move(gradients)));
    }
    return {};
  }

  Expected<> step_optimisers(const StepOrder& order, StepOutcome& outcome) {
    plan::StepCommand command;
    command.learning_rate = order.learning_rate;
    if (order.clip_norm > 0) {
      std::vector<plan::GradientNorm> norms;
      for (std::size_t stage = 0; stage < runners_.size(); ++stage) {
        const AddTime time(outcome.stages[stage].optimiser);
        PARETO_ASSIGN(auto some, trainer(stage).norms());
        norms.insert(norms.end(), some.begin(), some.end());
      }
      outcome.gradient_norm = total_norm(std::move(norms));
      command.scale = clip_scale(outcome.gradient_norm, order.clip_norm);
    }
    for (std::size_t stage = 0; stage < runners_.size(); ++stage) {
      const AddTime time(outcome.stages[stage].optimiser);
      PARETO_ASSIGN(command, trainer(stage).step(std::move(command)));
    }
    return {};
  }

  std::vector<std::unique_ptr<runtime::ShardRunner>> runners_;
  std::vector<std::string> devices_;
};

}  // namespace

Expected<std::unique_ptr<TrainingPipeline>> open_local_pipeline(
    const model::Model& model, const model::Model& loss, const plan::Plan& plan,
    const plan::TrainingSettings& settings, const std::vector<plan::StateTensor>& state,
    int threads) {
  PARETO_ASSIGN(std::vector<TrainingStage> stages, training_stages(model, plan, settings, state));
  const auto operators = static_cast<std::int64_t>(loss.graph().operators.size());
  PARETO_ASSIGN(plan::Shard loss_shard, with_context(emit_shard(loss, 0, operators), "the loss"));
  const runtime::WeightSource weights = training_weights(model, loss, state);
  std::vector<std::unique_ptr<runtime::ShardRunner>> runners;
  for (TrainingStage& stage : stages) {
    auto training = std::make_shared<runtime::TrainingOptions>();
    training->settings = std::move(stage.settings);
    if (&stage == &stages.back()) training->loss = std::exchange(loss_shard, {});
    runtime::RunnerOptions options;
    options.threads = threads;
    options.training = std::move(training);
    PARETO_ASSIGN(auto runner, with_context(runtime::load_runner(stage.shard, weights, options),
                                            "stage {}", runners.size()));
    runners.push_back(std::move(runner));
  }
  return std::make_unique<LocalPipeline>(std::move(runners));
}

}  // namespace pareto::train
