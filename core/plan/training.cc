#include "core/plan/training.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/json_integer.h"
#include "core/base/json_reason.h"
#include "core/base/json_text.h"
#include "core/plan/bounded_json.h"
#include "core/plan/training_order.h"
#include "core/plan/weight_json.h"

namespace pareto::plan {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostTrainingEntries = 1 << 14;

nlohmann::ordered_json optimiser_json(const Optimiser& optimiser) {
  return {{"name", optimiser.name},         {"momentum", optimiser.momentum},
          {"nesterov", optimiser.nesterov}, {"weight_decay", optimiser.weight_decay},
          {"beta1", optimiser.beta1},       {"beta2", optimiser.beta2},
          {"epsilon", optimiser.epsilon}};
}

Expected<Optimiser> optimiser_from(const Json& json) {
  Optimiser optimiser;
  PARETO_ASSIGN(optimiser.name, name_from(json.at("name")));
  optimiser.momentum = json.at("momentum").get<double>();
  optimiser.nesterov = json.at("nesterov").get<bool>();
  optimiser.weight_decay = json.at("weight_decay").get<double>();
  optimiser.beta1 = json.at("beta1").get<double>();
  optimiser.beta2 = json.at("beta2").get<double>();
  optimiser.epsilon = json.at("epsilon").get<double>();
  PARETO_TRY(check(optimiser));
  return optimiser;
}

/// Calls read(entry) for each entry of the list under a key.
template <typename Read>
Expected<> each_of(const Json& json, const char* key, Read read) {
  const Json& list = json.at(key);
  if (!list.is_array() || list.size() > kMostTrainingEntries) {
    return fail(ErrorCode::kCorrupt, "\"{}\" is no list of at most {} entries", key,
                kMostTrainingEntries);
  }
  for (const Json& entry : list) PARETO_TRY(read(entry));
  return {};
}

Expected<TrainingSettings> settings_from(const Json& json) {
  TrainingSettings settings;
  PARETO_ASSIGN(settings.id, name_from(json.at("id")));
  settings.stage = json_integer_at<std::uint32_t>(json, "stage");
  settings.stages = json_integer_at<std::uint32_t>(json, "stages");
  if (settings.stages > kMostTrainingStages || settings.stage >= settings.stages) {
    return fail(ErrorCode::kCorrupt, "stage {} of {}, at most {}", settings.stage, settings.stages,
                kMostTrainingStages);
  }
  PARETO_ASSIGN(settings.order, name_from(json.at("order")));
  PARETO_TRY(check_training_order(settings.order));
  PARETO_ASSIGN(settings.optimiser, optimiser_from(json.at("optimiser")));
  settings.bf16 = json.at("bf16").get<bool>();
  PARETO_ASSIGN(settings.gradient_codec, name_from(json.at("gradient_codec")));
  PARETO_TRY(each_of(json, "frozen", [&](const Json& entry) -> Expected<> {
    PARETO_ASSIGN(std::string path, name_from(entry));
    settings.frozen.push_back(std::move(path));
    return {};
  }));
  PARETO_TRY(each_of(json, "tied", [&](const Json& entry) -> Expected<> {
    TiedParameter tied;
    PARETO_ASSIGN(tied.name, name_from(entry.at("name")));
    tied.earlier = entry.at("earlier").get<bool>();
    tied.later = entry.at("later").get<bool>();
    settings.tied.push_back(std::move(tied));
    return {};
  }));
  PARETO_TRY(each_of(json, "state", [&](const Json& entry) -> Expected<> {
    PARETO_ASSIGN(WeightRef tensor, weight_from(entry));
    settings.state.push_back(std::move(tensor));
    return {};
  }));
  return settings;
}

}  // namespace

Expected<> check(const Optimiser& optimiser) {
  const auto is_fraction = [](double value) { return value >= 0 && value < 1; };
  if (optimiser.name != "sgd" && optimiser.name != "adam" && optimiser.name != "adamw") {
    return fail(ErrorCode::kInvalidArgument, "no optimiser \"{}\", only sgd, adam, adamw",
                optimiser.name);
  }
  if (!is_fraction(optimiser.momentum)) {
    return fail(ErrorCode::kInvalidArgument, "momentum {}: from 0 to below 1", optimiser.momentum);
  }
  if (optimiser.nesterov && optimiser.momentum == 0) {
    return fail(ErrorCode::kInvalidArgument, "Nesterov's momentum needs a momentum above 0");
  }
  if (!(optimiser.weight_decay >= 0 && std::isfinite(optimiser.weight_decay))) {
    return fail(ErrorCode::kInvalidArgument, "weight decay {}: 0 or more", optimiser.weight_decay);
  }
  if (!is_fraction(optimiser.beta1) || !is_fraction(optimiser.beta2)) {
    return fail(ErrorCode::kInvalidArgument, "betas {} and {}: from 0 to below 1", optimiser.beta1,
                optimiser.beta2);
  }
  if (!(optimiser.epsilon > 0 && std::isfinite(optimiser.epsilon))) {
    return fail(ErrorCode::kInvalidArgument, "epsilon {}: above 0", optimiser.epsilon);
  }
  return {};
}

bool is_frozen(const std::vector<std::string>& frozen, const std::string& path) {
  return std::ranges::any_of(frozen, [&](const std::string& module) {
    return path.starts_with(module) &&
           (path.size() == module.size() || path[module.size()] == '.' || module.empty());
  });
}

std::string training_json(const TrainingSettings& settings) {
  nlohmann::ordered_json json{{"id", settings.id},
                              {"stage", settings.stage},
                              {"stages", settings.stages},
                              {"order", settings.order},
                              {"optimiser", optimiser_json(settings.optimiser)},
                              {"bf16", settings.bf16},
                              {"gradient_codec", settings.gradient_codec},
                              {"frozen", settings.frozen}};
  json["tied"] = nlohmann::ordered_json::array();
  for (const TiedParameter& tied : settings.tied) {
    json["tied"].push_back({{"name", tied.name}, {"earlier", tied.earlier}, {"later", tied.later}});
  }
  json["state"] = nlohmann::ordered_json::array();
  for (const WeightRef& tensor : settings.state) json["state"].push_back(to_json(tensor));
  return dump(json);
}

Expected<TrainingSettings> training_from_json(const std::string& text) {
  if (text.size() > kMostTrainingBytes) {
    return fail(ErrorCode::kExhausted, "training: {} bytes of settings, at most {}", text.size(),
                kMostTrainingBytes);
  }
  try {
    PARETO_ASSIGN(const Json json, with_context(parse_bounded<Json>(text), "training"));
    return with_context(settings_from(json), "training");
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kCorrupt, "training: {}", json_reason(error));
  }
}

}  // namespace pareto::plan
