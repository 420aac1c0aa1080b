#include "coordinator/modes/training_turns.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "coordinator/train/training_replay.h"
#include "coordinator/train/training_stages.h"
#include "partitioner/model/emit/emit.h"
#include "runtime/shard_runner.h"
#include "runtime/training/trainer.h"

namespace pareto::modes {
namespace {

constexpr const char* kTraining = "training";
constexpr std::int64_t kDropoutSeed = 1;

/// A shard that is trained.
struct TrainedPart {
  std::unique_ptr<runtime::ShardRunner> runner;
  Nanoseconds prepare{};
  bool shares_parameters = false;
  runtime::Trainer& trainer() const { return *runner->trainer(); }
  std::uint64_t held_bytes() const { return runner->report().weight_bytes; }
};

/// The model as one part and as two, and what crosses the cut.
struct Trained {
  TrainedPart whole;
  TrainedPart prefix;
  TrainedPart suffix;
  plan::Activations inputs;
  plan::Target target;
  plan::Activations crossing;  ///< on its way forward
  plan::Gradients gradients;   ///< on their way back
};

plan::Plan plan_of_parts(const model::Model& model, const ModeBenchOptions& options, bool is_cut) {
  const std::int64_t all = std::ssize(model.graph().operators);
  plan::Plan plan;
  plan.model = model.name();
  plan.batch = options.batch;
  const auto add = [&](const plan::OperatorRanges& before, const plan::OperatorRanges& after) {
    std::vector<std::int64_t> own = operators_in(after);
    std::erase_if(own, [&](std::int64_t op) { return plan::holds(before, op); });
    plan::StagePlan stage{"this process", plan::count_of(before), plan::count_of(after)};
    plan::OperatorRanges ranges = plan::ranges_of(own);
    if (ranges != plan::OperatorRanges{{stage.begin, stage.end}}) {
      stage.operators = std::move(ranges);
    }
    plan.stages.push_back(std::move(stage));
  };
  if (is_cut) {
    plan.splits.push_back(options.cut.name);
    add({}, options.cut.before);
  }
  add(is_cut ? options.cut.before : plan::OperatorRanges{}, {{0, all}});
  return plan;
}

Expected<std::vector<TrainedPart>> load_parts(const model::Model& model, const model::Model& loss,
                                              const ModeBenchOptions& options, bool is_cut) {
  PARETO_ASSIGN(auto stages,
                train::training_stages(model, plan_of_parts(model, options, is_cut), {}, {}));
  PARETO_ASSIGN(plan::Shard loss_shard,
                model::emit_shard(loss, 0, std::ssize(loss.graph().operators)));
  const std::vector<plan::StateTensor> no_state;
  const runtime::WeightSource weights = train::training_weights(model, loss, no_state);
  std::vector<TrainedPart> parts;
  for (train::TrainingStage& stage : stages) {
    auto training = std::make_shared<runtime::TrainingOptions>();
    training->settings = std::move(stage.settings);
    if (&stage == &stages.back()) training->loss = loss_shard;
    TrainedPart part;
    part.shares_parameters = !training->settings.tied.empty();
    runtime::RunnerOptions how;
    how.threads = options.threads;
    how.training = std::move(training);
    const auto began = std::chrono::steady_clock::now();
    PARETO_ASSIGN(part.runner, runtime::load_runner(stage.shard, weights, how));
    part.prepare = std::chrono::steady_clock::now() - began;
    parts.push_back(std::move(part));
  }
  return parts;
}

Expected<> take_step(const TrainedPart& part) {
  plan::StepCommand command;
  return part.trainer().step(std::move(command)).map([](const plan::StepCommand&) {});
}

/// Goes forward to the loss and back, and lets the optimiser step. Returns the gradients of the
/// inputs.
Expected<plan::Gradients> train_last(const TrainedPart& part, const plan::Activations& inputs,
                                     const plan::Target& target) {
  PARETO_TRY(part.trainer().forward_to_loss(0, inputs, target));
  PARETO_ASSIGN(plan::Gradients gradients, part.trainer().backward(0, {}));
  PARETO_TRY(take_step(part));
  return gradients;
}

Expected<> train_both(const Trained& trained) {
  PARETO_ASSIGN(const plan::Activations crossing,
                trained.prefix.trainer().forward(0, trained.inputs));
  PARETO_TRY(trained.suffix.trainer().forward_to_loss(0, crossing, trained.target));
  PARETO_ASSIGN(plan::Gradients gradients, trained.suffix.trainer().backward(0, {}));
  PARETO_TRY(trained.prefix.trainer().backward(0, std::move(gradients)));
  plan::StepCommand command;
  PARETO_ASSIGN(command, trained.prefix.trainer().step(std::move(command)));
  PARETO_TRY(trained.suffix.trainer().step(std::move(command)));
  return {};
}

Expected<std::shared_ptr<Trained>> load_trained(const model::Model& model, const model::Model& loss,
                                                const ModeBenchOptions& options) {
  auto trained = std::make_shared<Trained>();
  PARETO_ASSIGN(auto whole, load_parts(model, loss, options, false));
  PARETO_ASSIGN(auto halves, load_parts(model, loss, options, true));
  trained->whole = std::move(whole.front());
  trained->prefix = std::move(halves.front());
  trained->suffix = std::move(halves.back());
  PARETO_ASSIGN(trained->inputs.values, model.example_inputs(options.batch, options.seed));
  trained->inputs.random = kDropoutSeed;
  PARETO_ASSIGN(trained->target.value, train::zero_labels(options.batch));
  PARETO_ASSIGN(trained->crossing, trained->prefix.trainer().forward(0, trained->inputs));
  PARETO_TRY(trained->suffix.trainer().forward_to_loss(0, trained->crossing, trained->target));
  PARETO_ASSIGN(trained->gradients, trained->suffix.trainer().backward(0, {}));
  PARETO_TRY(trained->prefix.trainer().backward(0, trained->gradients));
  return trained;
}

Contestant contestant(const char* work, const std::vector<const TrainedPart*>& parts,
                      std::function<Expected<>()> run) {
  Contestant one;
  one.figures.work = work;
  one.figures.mode = kTraining;
  one.figures.engine = "autograd";
  for (const TrainedPart* part : parts) {
    one.figures.prepare += part->prepare;
    one.figures.held_bytes += part->held_bytes();
  }
  one.run = std::move(run);
  return one;
}

}  // namespace

Expected<std::vector<Contestant>> training_contestants(const model::Model& model,
                                                       const model::Model& loss,
                                                       const ModeBenchOptions& options) {
  PARETO_ASSIGN(const std::shared_ptr<Trained> trained, load_trained(model, loss, options));
  const TrainedPart* prefix = &trained->prefix;
  std::vector<Contestant> all;
  all.push_back(contestant("direct", {&trained->whole}, [trained] {
    return train_last(trained->whole, trained->inputs, trained->target)
        .map([](const plan::Gradients&) {});
  }));
  all.push_back(contestant("prefix + suffix", {prefix, &trained->suffix},
                           [trained] { return train_both(*trained); }));
  // By itself, a stage has no sums of parameters that both have.
  if (prefix->shares_parameters) return all;
  all.push_back(contestant("suffix", {&trained->suffix}, [trained] {
    return train_last(trained->suffix, trained->crossing, trained->target)
        .map([](const plan::Gradients&) {});
  }));
  const auto forward = [trained]() -> Expected<> {
    return trained->prefix.trainer().forward(0, trained->inputs).map([](const auto&) {});
  };
  const auto back = [trained]() -> Expected<> {
    return trained->prefix.trainer().backward(0, trained->gradients).map([](const auto&) {});
  };
  all.push_back(contestant("prefix backward, values kept", {prefix}, back));
  all.back().before = [trained, forward]() -> Expected<> {
    PARETO_TRY(take_step(trained->prefix));
    return forward();
  };
  all.push_back(
      contestant("prefix backward, computed again", {prefix}, [forward, back]() -> Expected<> {
        PARETO_TRY(forward());
        return back();
      }));
  all.back().before = [trained] { return take_step(trained->prefix); };
  return all;
}

}  // namespace pareto::modes
