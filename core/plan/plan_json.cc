#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "core/base/json_reason.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/plan/bounded_json.h"
#include "core/plan/plan.h"
#include "core/plan/plan_check.h"
#include "core/plan/schedule_json.h"

namespace pareto::plan {
namespace {

Expected<> check_keys(const nlohmann::json& json, const std::vector<std::string>& known,
                      const std::string& where) {
  if (!json.is_object()) {
    return fail(ErrorCode::kInvalidArgument, "{}: an object is expected, not {}", where,
                json.is_array() ? "a list" : json.type_name());
  }
  for (const auto& [key, value] : json.items()) {
    if (std::ranges::find(known, key) == known.end()) {
      return fail(ErrorCode::kInvalidArgument, "{}: unknown key \"{}\"{}", where, key,
                  did_you_mean(key, known));
    }
  }
  return {};
}

constexpr const char* kSource = "model_source";
const std::vector<std::string> kSettings{"engine", "precision", "threads", "max_error", "schedule"};

Expected<> check_all_keys(const nlohmann::json& json) {
  PARETO_TRY(check_keys(
      json,
      {"model", "splits", "stages", "replicas", "transport", "transports", "codecs", "batch",
       "micro_batch", "window", "engine", "precision", "threads", "max_error", "schedule", kSource},
      "plan"));
  if (json.contains("transport") && json.contains("transports")) {
    return fail(ErrorCode::kInvalidArgument,
                "plan: \"transport\" of all links and \"transports\" of each: one of them is too "
                "many");
  }
  for (std::size_t i = 0; i < json.at("stages").size(); ++i) {
    PARETO_TRY(check_keys(json.at("stages").at(i),
                          {"device", "begin", "end", "operators", "settings"},
                          fmt::format("plan: stage {}", i)));
  }
  return {};
}

/// Describes what was found instead of a number, for people: nothing that is nested.
std::string shown(const nlohmann::json& json) {
  return json.is_structured() ? "something nested" : json.dump();
}

/// A number that the target can hold: conversions of the library cut off what does not fit.
template <typename Whole>
Expected<> read_whole(const nlohmann::json& json, std::string_view key, Whole& target) {
  const bool fits = json.is_number_unsigned() ? std::in_range<Whole>(json.get<std::uint64_t>())
                                              : json.is_number_integer() &&
                                                    std::in_range<Whole>(json.get<std::int64_t>());
  if (!fits) {
    return fail(ErrorCode::kInvalidArgument, "plan: {}: {} is not a whole number up to {}", key,
                shown(json), std::numeric_limits<Whole>::max());
  }
  target = json.get<Whole>();
  return {};
}

/// Left as it is where the key is absent.
template <typename Whole>
Expected<> read_optional(const nlohmann::json& json, const char* key, Whole& target) {
  const auto found = json.find(key);
  return found == json.end() ? Expected<>() : read_whole(*found, key, target);
}

/// Reads the settings among the keys of an object; those that are absent are left as they are.
/// `at`: the place of the object, "stages[1].settings.".
Expected<> read_settings(const nlohmann::json& json, const std::string& at,
                         StageSettings& settings) {
  const auto refused = [&](const char* key, const char* what) {
    return fail(ErrorCode::kInvalidArgument, "plan: {}{}: {} is not {}", at, key,
                shown(json.at(key)), what);
  };
  for (const auto& [key, target] :
       {std::pair("engine", &settings.engine), std::pair("precision", &settings.precision)}) {
    if (!json.contains(key)) continue;
    if (!json.at(key).is_string()) return refused(key, "a name");
    *target = json.at(key).get<std::string>();
  }
  if (json.contains("threads")) {
    PARETO_TRY(read_whole(json.at("threads"), at + "threads", settings.threads));
  }
  if (json.contains("schedule")) {
    PARETO_ASSIGN(settings.schedule,
                  with_context(schedule_from(json.at("schedule")), "plan: {}schedule", at));
  }
  if (!json.contains("max_error")) return {};
  if (!json.at("max_error").is_number()) return refused("max_error", "a number from 0 to 1");
  settings.max_error = json.at("max_error").get<double>();
  return {};
}

/// Reads the settings of stage `index`; a key that is absent is as the plan has it. No value: all
/// are.
Expected<std::optional<StageSettings>> stage_settings_from(const nlohmann::json& json,
                                                           std::size_t index,
                                                           const StageSettings& of_plan) {
  const std::string place = fmt::format("stages[{}].settings", index);
  PARETO_TRY(check_keys(json, kSettings, "plan: " + place));
  StageSettings settings = of_plan;
  PARETO_TRY(read_settings(json, place + ".", settings));
  return settings == of_plan ? std::nullopt : std::optional(std::move(settings));
}

Expected<OperatorRanges> ranges_from(const nlohmann::json& json) {
  if (!json.is_array() || json.empty()) {
    return fail(ErrorCode::kInvalidArgument, "\"operators\" is a list of ranges [begin, end]");
  }
  OperatorRanges ranges;
  for (const auto& range : json) {
    if (!range.is_array() || range.size() != 2) {
      return fail(ErrorCode::kInvalidArgument, "\"operators\": {} is no range [begin, end]",
                  shown(range));
    }
    OperatorRange& read = ranges.emplace_back();
    PARETO_TRY(read_whole(range.at(0), "operators", read.begin));
    PARETO_TRY(read_whole(range.at(1), "operators", read.end));
  }
  return ranges;
}

/// Equal plans are equal however their ranges were written.
void write_shortest(StagePlan& stage) {
  stage.operators = united(std::move(stage.operators));
  if (stage.operators == OperatorRanges{{stage.begin, stage.end}}) stage.operators.clear();
}

nlohmann::ordered_json json_of(const StageSettings& settings) {
  return {{"engine", settings.engine},
          {"precision", settings.precision},
          {"threads", settings.threads},
          {"max_error", settings.max_error},
          {"schedule", schedule_json(settings.schedule)}};
}

/// Returns the settings in which a stage differs from its plan.
nlohmann::ordered_json differences(const StageSettings& settings, const StageSettings& of_plan) {
  nlohmann::ordered_json json = json_of(settings);
  const nlohmann::ordered_json known = json_of(of_plan);
  for (const auto& [key, value] : known.items()) {
    if (json.at(key) == value) json.erase(key);
  }
  return json;
}

nlohmann::ordered_json json_of(const StagePlan& stage, const StageSettings& of_plan) {
  nlohmann::ordered_json json{{"device", stage.device}, {"begin", stage.begin}, {"end", stage.end}};
  if (!stage.operators.empty()) {
    auto& ranges = json["operators"] = nlohmann::ordered_json::array();
    for (const OperatorRange& range : stage.operators) ranges.push_back({range.begin, range.end});
  }
  if (stage.settings && *stage.settings != of_plan) {
    json["settings"] = differences(*stage.settings, of_plan);
  }
  return json;
}

nlohmann::ordered_json json_of(const Plan& plan) {
  nlohmann::ordered_json json{
      {"model", plan.model}, {"splits", plan.splits}, {"stages", nlohmann::ordered_json::array()}};
  for (const StagePlan& stage : plan.stages) {
    json["stages"].push_back(json_of(stage, plan.settings));
  }
  if (plan.replicated) json["replicas"] = true;
  if (plan.transports.empty()) {
    json["transport"] = plan.transport;
  } else {
    json["transports"] = plan.transports;
  }
  json["codecs"] = plan.codecs;
  json["batch"] = plan.batch;
  json["micro_batch"] = plan.micro_batch;
  json["window"] = plan.window;
  const nlohmann::ordered_json settings = json_of(plan.settings);
  for (const auto& [key, value] : settings.items()) json[key] = value;
  if (plan.settings.max_error == 0) json.erase("max_error");
  if (plan.settings.schedule == kSequential) json.erase("schedule");
  return json;
}

nlohmann::ordered_json json_of(const ModelSource& source) {
  nlohmann::ordered_json json{{"model", source.model},
                              {"input_shape", source.input_shape},
                              {"num_classes", source.num_classes},
                              {"weights", source.weights},
                              {"model_seed", source.model_seed}};
  if (!source.inputs.empty()) json["inputs"] = source.inputs;
  if (!source.operators.empty()) json["operators"] = source.operators;
  return json;
}

Expected<ModelSource> source_from(const nlohmann::json& json) {
  PARETO_TRY(check_keys(
      json, {"model", "input_shape", "num_classes", "weights", "model_seed", "inputs", "operators"},
      kSource));
  ModelSource source;
  source.model = json.at("model").get<std::string>();
  source.input_shape = json.value("input_shape", source.input_shape);
  PARETO_TRY(read_optional(json, "num_classes", source.num_classes));
  source.weights = json.value("weights", source.weights);
  PARETO_TRY(read_optional(json, "model_seed", source.model_seed));
  source.inputs = json.value("inputs", source.inputs);
  source.operators = json.value("operators", source.operators);
  return source;
}

Expected<Plan> plan_from(const nlohmann::json& json) {
  Plan plan;
  plan.model = json.at("model").get<std::string>();
  plan.splits = json.at("splits").get<std::vector<std::string>>();
  PARETO_TRY(read_settings(json, "", plan.settings));
  for (const auto& stage : json.at("stages")) {
    const std::size_t index = plan.stages.size();
    StagePlan& read = plan.stages.emplace_back();
    read.device = stage.at("device").get<std::string>();
    PARETO_TRY(read_whole(stage.at("begin"), "begin", read.begin));
    PARETO_TRY(read_whole(stage.at("end"), "end", read.end));
    if (stage.contains("settings")) {
      PARETO_ASSIGN(read.settings, stage_settings_from(stage.at("settings"), index, plan.settings));
    }
    if (!stage.contains("operators")) continue;
    PARETO_ASSIGN(read.operators,
                  with_context(ranges_from(stage.at("operators")), "plan: stage {}", index));
  }
  plan.replicated = json.value("replicas", false);
  plan.transport = json.value("transport", plan.transport);
  plan.transports = json.value("transports", plan.transports);
  plan.codecs = json.value("codecs", plan.codecs);
  PARETO_TRY(read_optional(json, "batch", plan.batch));
  PARETO_TRY(read_optional(json, "micro_batch", plan.micro_batch));
  PARETO_TRY(read_optional(json, "window", plan.window));
  PARETO_TRY(check(plan));
  for (StagePlan& stage : plan.stages) write_shortest(stage);
  plan.set_transports(plan.transports.empty() ? std::vector<std::string>{plan.transport}
                                              : plan.transports);
  return plan;
}

/// Returns what `take` makes of a document.
template <typename Take>
auto read_document(const std::string& text, const char* what, Take take)
    -> decltype(take(nlohmann::json())) {
  try {
    PARETO_ASSIGN(const auto json,
                  with_context(parse_bounded<nlohmann::json>(text), "this is no {}", what));
    return take(json);
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kInvalidArgument, "this is no {}: {}", what, json_reason(error));
  }
}

}  // namespace

std::string to_json(const Plan& plan) { return dump(json_of(plan)); }
std::string to_json(const ModelSource& source) { return dump(json_of(source)); }

std::string to_json(const PlanFile& file) {
  nlohmann::ordered_json json = json_of(file.plan);
  if (file.source) json[kSource] = json_of(*file.source);
  return dump(json);
}

Expected<Plan> plan_from_json(const std::string& text) {
  return plan_file_from_json(text).map([](const PlanFile& file) { return file.plan; });
}

Expected<PlanFile> plan_file_from_json(const std::string& text) {
  return read_document(text, "plan", [](const nlohmann::json& json) -> Expected<PlanFile> {
    PARETO_TRY(check_all_keys(json));
    PlanFile file;
    PARETO_ASSIGN(file.plan, plan_from(json));
    if (json.contains(kSource)) {
      PARETO_ASSIGN(file.source, with_context(source_from(json.at(kSource)), "plan"));
    }
    return file;
  });
}

Expected<ModelSource> model_source_from_json(const std::string& text) {
  return read_document(text, kSource, source_from);
}

}  // namespace pareto::plan
