#include <nlohmann/json.hpp>
#include <string_view>
#include <type_traits>

#include "coordinator/sweep/sweep.h"
#include "core/base/json_integer.h"
#include "core/base/json_parse.h"
#include "core/base/json_reason.h"
#include "core/base/json_text.h"

namespace pareto::sweep {
namespace {

/// The key of settings that plans are measured by next to the first ones. It is there if there are
/// any.
constexpr const char* kMoreSettings = "more_settings";

/// Calls visit(name, field) for each field of settings.
template <typename Settings, typename Visit>
void for_each_setting(Settings& settings, Visit visit) {
  visit("engine", settings.engine);
  visit("precision", settings.precision);
  visit("threads", settings.threads);
  visit("max_error", settings.max_error);
  visit("schedule", settings.schedule);
}

/// Calls visit(name, field) for each field: one list for both directions.
template <typename Options, typename Visit>
void for_each_field(Options& options, Visit visit) {
  visit("splits", options.splits);
  visit("stages", options.stages);
  visit("transports", options.transports);
  visit("codecs", options.codecs);
  visit("codec_error", options.codec_error);
  visit("batches", options.batches);
  visit("micro_batches", options.micro_batches);
  visit("window", options.window);
  visit("requests", options.requests);
  visit("rounds", options.rounds);
  visit("seed", options.seed);
  for_each_setting(options.settings, visit);
  visit("timeout_ms", options.timeout_ms);
  visit("conditions", options.conditions);
  visit("adaptive", options.adaptive);
  visit("budget_s", options.budget_s);
  visit("predict", options.predict);
  visit("no_checksum", options.no_checksum);
  visit("train", options.train);
  visit("loss", options.loss);
  visit("dataset", options.accuracy.data);
  visit("dataset_part", options.accuracy.part);
  visit("preprocessing", options.accuracy.preprocessing);
  visit("dataset_limit", options.accuracy.limit);
  visit("min_accuracy", options.accuracy.least_share);
}

template <typename T>
void read_field(const nlohmann::json& json, const char* name, T& field) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    field = json_integer<T>(json, fmt::format("\"{}\"", name));
  } else {
    json.get_to(field);
  }
}

template <typename T>
void read_field(const nlohmann::json& json, const char* name, std::vector<T>& field) {
  field.clear();
  for (const auto& one : json.get<std::vector<nlohmann::json>>()) {
    read_field(one, name, field.emplace_back());
  }
}

/// Returns whether runs of earlier versions lack the field. They did what its default says.
bool is_newer(std::string_view name) {
  return name == "micro_batches" || name == "codec_error" || name == "conditions" ||
         name == "adaptive" || name == "budget_s" || name == "predict" || name == "timeout_ms" ||
         name == "max_error" || name == "no_checksum" || name == "schedule" || name == "train" ||
         name == "loss" || name.starts_with("dataset") || name == "preprocessing" ||
         name == "min_accuracy";
}

}  // namespace

std::vector<plan::StageSettings> SweepOptions::all_settings() const {
  std::vector<plan::StageSettings> all{settings};
  all.insert(all.end(), more_settings.begin(), more_settings.end());
  return all;
}

std::string to_json(const SweepOptions& options) {
  nlohmann::ordered_json json;
  for_each_field(options, [&](const char* name, const auto& field) { json[name] = field; });
  for (const plan::StageSettings& settings : options.more_settings) {
    auto& kept = json[kMoreSettings].emplace_back();
    for_each_setting(settings, [&](const char* name, const auto& field) { kept[name] = field; });
  }
  if (options.plans.empty()) return dump(json);
  json["plans"] = nlohmann::ordered_json::array();
  for (const cluster::NamedPlan& named : options.plans) {
    json["plans"].push_back(
        {{"name", named.name}, {"plan", nlohmann::ordered_json::parse(plan::to_json(named.plan))}});
  }
  return dump(json);
}

Expected<SweepOptions> sweep_options_from_json(const std::string& text) {
  SweepOptions options;
  try {
    auto json = parse_json<nlohmann::json>(text);
    // This was one number before there could be several.
    if (json.contains("stages") && json["stages"].is_number_integer()) {
      json["stages"] = nlohmann::json::array({json["stages"]});
    }
    for_each_field(options, [&](const char* name, auto& field) {
      if (json.contains(name) || !is_newer(name)) read_field(json.at(name), name, field);
    });
    if (json.contains(kMoreSettings)) {
      for (const auto& kept : json.at(kMoreSettings)) {
        for_each_setting(options.more_settings.emplace_back(), [&](const char* name, auto& field) {
          read_field(kept.at(name), name, field);
        });
      }
    }
    if (!json.contains("plans")) return options;
    for (const auto& kept : json.at("plans")) {
      cluster::NamedPlan& named = options.plans.emplace_back();
      kept.at("name").get_to(named.name);
      PARETO_ASSIGN(named.plan, with_context(plan::plan_from_json(kept.at("plan").dump()),
                                             "the options of a stored run: plan {}", named.name));
    }
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kCorrupt, "the options of a stored run: {}", json_reason(error));
  }
  return options;
}

}  // namespace pareto::sweep
