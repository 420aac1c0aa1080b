#include "coordinator/train/training_stages.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

#include "core/base/text.h"
#include "partitioner/model/emit/emit.h"

namespace pareto::train {
namespace {

constexpr std::string_view kOptimiserState = "optimiser/";

/// Returns the weight that a tensor of a state belongs to: "conv.weight" of "conv.weight", and of
/// "optimiser/conv.weight/momentum_buffer".
std::string weight_of(const std::string& name) {
  if (!name.starts_with(kOptimiserState)) return name;
  const std::size_t end = name.rfind('/');
  return name.substr(kOptimiserState.size(), end - kOptimiserState.size());
}

bool has_weight(const TrainingStage& stage, const std::string& name) {
  return std::ranges::find(stage.shard.weights, name, &plan::WeightRef::name) !=
         stage.shard.weights.end();
}

/// Returns the module of a parameter: "layer1.0.conv" of "layer1.0.conv.weight".
std::string module_of_weight(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? std::string() : name.substr(0, dot);
}

/// Returns the settings with the parameters frozen that the model does not train.
plan::TrainingSettings with_untrained(const model::Model& model, plan::TrainingSettings settings) {
  const auto& weights = model.graph().weights;
  for (const model::GraphWeight& weight : weights) {
    if (!weight.is_parameter || weight.is_trainable ||
        plan::is_frozen(settings.frozen, weight.name))
      continue;
    settings.frozen.push_back(weight.name);
  }
  return settings;
}

bool is_trained(const plan::WeightRef& weight, const plan::TrainingSettings& settings) {
  return weight.is_parameter && !plan::is_frozen(settings.frozen, weight.name);
}

Expected<> check_frozen(const model::Model& model, const plan::TrainingSettings& settings) {
  std::vector<std::string> paths;
  for (const model::GraphWeight& weight : model.graph().weights) {
    if (!weight.is_parameter) continue;
    for (std::string path = weight.name; !path.empty(); path = module_of_weight(path)) {
      if (std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
    }
  }
  for (const std::string& frozen : settings.frozen) {
    if (std::ranges::find(paths, frozen) != paths.end()) continue;
    return fail(ErrorCode::kInvalidArgument, "{} has no parameter at or under \"{}\"{}",
                model.name(), frozen, did_you_mean(frozen, paths));
  }
  return {};
}

Expected<> check_trains(const model::Model& model, const plan::Plan& plan,
                        const std::vector<TrainingStage>& stages) {
  const TrainingStage& last = stages.back();
  const bool trains = std::ranges::any_of(last.shard.weights, [&](const plan::WeightRef& weight) {
    return is_trained(weight, last.settings);
  });
  if (trains) return {};
  if (stages.size() == 1) {
    return fail(ErrorCode::kInvalidArgument, "{} has no parameter to train{}", model.name(),
                last.settings.frozen.empty() ? "" : ": all of them are frozen");
  }
  return fail(
      ErrorCode::kInvalidArgument,
      "behind {} there is no parameter to train: the last stage would learn nothing. Cut "
      "earlier, or list cuts with `paretoctl splits --trainable`",
      plan.splits.empty() ? fmt::format("stage {}", stages.size() - 2) : plan.splits.back());
}

/// Refuses cuts through a norm that several stages use: each would keep statistics of its own, the
/// uncut model keeps one.
Expected<> check_statistics(const std::vector<TrainingStage>& stages) {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    for (const plan::WeightRef& weight : stages[i].shard.weights) {
      const bool is_statistic =
          weight.name.ends_with("running_mean") || weight.name.ends_with("running_var");
      if (!is_statistic || plan::is_frozen(stages[i].settings.frozen, weight.name)) continue;
      for (std::size_t other = i + 1; other < stages.size(); ++other) {
        if (!has_weight(stages[other], weight.name)) continue;
        return fail(ErrorCode::kInvalidArgument,
                    "stages {} and {} both use the norm {}, whose statistics training changes: cut "
                    "before it or behind it, or freeze it",
                    i, other, module_of_weight(weight.name));
      }
    }
  }
  return {};
}

void add_tied(std::vector<TrainingStage>& stages) {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    for (const plan::WeightRef& weight : stages[i].shard.weights) {
      const auto has = [&](const TrainingStage& stage) { return has_weight(stage, weight.name); };
      const auto here = stages.begin() + static_cast<std::ptrdiff_t>(i);
      const plan::TiedParameter tied{weight.name, std::any_of(stages.begin(), here, has),
                                     std::any_of(here + 1, stages.end(), has)};
      if (tied.earlier || tied.later) stages[i].settings.tied.push_back(tied);
    }
  }
}

/// Gives each stage its part of a state: by weights that it has.
Expected<> add_state(const std::vector<plan::StateTensor>& state,
                     std::vector<TrainingStage>& stages) {
  for (const plan::StateTensor& one : state) {
    PARETO_ASSIGN(const Tensor dense, row_major(one.tensor));
    const plan::WeightRef ref{one.name, sha256(dense.bytes()), dense.dtype(), dense.shape()};
    bool is_taken = false;
    for (TrainingStage& stage : stages) {
      if (!has_weight(stage, weight_of(one.name))) continue;
      stage.settings.state.push_back(ref);
      is_taken = true;
    }
    if (!is_taken) {
      return fail(ErrorCode::kInvalidArgument, "the state has \"{}\", which no stage has",
                  one.name);
    }
  }
  return {};
}

}  // namespace

Expected<std::vector<TrainingStage>> training_stages(const model::Model& model,
                                                     const plan::Plan& plan,
                                                     const plan::TrainingSettings& settings,
                                                     const std::vector<plan::StateTensor>& state) {
  PARETO_TRY(check_frozen(model, settings));
  const plan::TrainingSettings with_all_frozen = with_untrained(model, settings);
  std::vector<TrainingStage> stages;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    PARETO_ASSIGN(plan::Shard shard, emit_shard(model, plan.operators_of(i)));
    TrainingStage& stage = stages.emplace_back(TrainingStage{std::move(shard), with_all_frozen});
    stage.settings.stage = static_cast<std::uint32_t>(i);
    stage.settings.stages = static_cast<std::uint32_t>(plan.stages.size());
  }
  if (stages.empty()) return fail(ErrorCode::kInvalidArgument, "a plan without stages");
  PARETO_TRY(check_trains(model, plan, stages));
  PARETO_TRY(check_statistics(stages));
  add_tied(stages);
  PARETO_TRY(add_state(state, stages));
  return stages;
}

runtime::WeightSource training_weights(const model::Model& model, const model::Model& loss,
                                       const std::vector<plan::StateTensor>& state) {
  auto by_digest = std::make_shared<std::unordered_map<Digest, Tensor>>();
  for (const plan::StateTensor& one : state) {
    if (const auto dense = row_major(one.tensor)) {
      by_digest->emplace(sha256(dense->bytes()), *dense);
    }
  }
  return [&model, &loss, by_digest](const Digest& digest) -> Expected<Tensor> {
    if (const auto found = by_digest->find(digest); found != by_digest->end()) return found->second;
    if (auto weight = model.weight(digest)) return weight;
    return loss.weight(digest);
  };
}

}  // namespace pareto::train
