#include "client/flags/kept_flags.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "client/flags/network_flag.h"
#include "coordinator/cluster/control_address.h"
#include "coordinator/cluster/testbed_cluster.h"
#include "coordinator/statistics/objective_figures.h"
#include "core/base/json_parse.h"
#include "core/base/json_reason.h"
#include "core/base/json_text.h"
#include "core/base/text.h"

namespace pareto::client {
namespace {

using Json = nlohmann::ordered_json;

/// `networks`: their texts by their names.
Expected<std::vector<cluster::NamedCondition>> kept_conditions(const nlohmann::json& networks) {
  std::vector<cluster::NamedCondition> conditions;
  for (const auto& [name, text] : networks.items()) {
    auto condition = plan::parse_condition(text.get<std::string>(), "network " + name);
    if (!condition) return fail(ErrorCode::kCorrupt, "{}", condition.error().message);
    conditions.push_back({name, *std::move(condition)});
  }
  return conditions;
}

std::string report_path(const std::string& report) {
  return report == "none" ? report : absolute_path(report);
}

}  // namespace

std::string to_json(const KeptFlags& flags) {
  const std::string& testbed = flags.devices.testbed;
  const std::string& devices = flags.devices.inventory;
  auto networks = Json::object();
  for (const cluster::NamedCondition& one : flags.conditions)
    networks[one.name] = to_text(one.condition);
  Json json{{"sweep", Json::parse(to_json(flags.options))},
            {"model", Json::parse(to_json(flags.model.source()))},
            {"devices", cluster::names_addresses(devices) ? devices : absolute_path(devices)},
            {"networks", std::move(networks)},
            {"testbed", cluster::is_testbed_file(testbed) ? absolute_path(testbed) : testbed}};
  if (!flags.report.empty()) json["report"] = report_path(flags.report);
  if (!flags.figures.empty()) json["device_figures"] = flags.figures;
  if (!flags.objectives.empty()) json["objectives"] = flags.objectives;
  if (flags.max_latency_ms) json["max_latency_ms"] = *flags.max_latency_ms;
  if (flags.testbed_content) json["testbed_content"] = *flags.testbed_content;
  return dump(json);
}

Expected<KeptFlags> kept_flags(const results::RunRecord& run) {
  const auto unreadable = [&](const std::string& why) {
    return fail(ErrorCode::kCorrupt, "run {}: its flags cannot be read: {}", run.id, why);
  };
  try {
    const auto json = parse_json<nlohmann::json>(run.options_json);
    KeptFlags flags;
    PARETO_ASSIGN(flags.options, sweep::sweep_options_from_json(json.at("sweep").dump()));
    const auto source = plan::model_source_from_json(json.at("model").dump());
    if (!source) return unreadable(source.error().message);
    flags.model.complete(*source);
    // The user named them when the run began.
    flags.model.operators = source->operators;
    json.at("devices").get_to(flags.devices.inventory);
    // Runs of earlier versions had none of these.
    flags.devices.testbed = json.value("testbed", "");
    flags.report = json.value("report", "");
    flags.figures = statistics::device_figures(run);
    flags.objectives = json.value("objectives", std::vector<std::string>());
    if (json.contains("max_latency_ms")) {
      flags.max_latency_ms = json.at("max_latency_ms").get<double>();
    }
    if (json.contains("testbed_content")) {
      flags.testbed_content = json.at("testbed_content").get<std::string>();
    }
    PARETO_ASSIGN(flags.conditions,
                  with_context(json.contains("networks")
                                   ? kept_conditions(json.at("networks"))
                                   : read_conditions(join(flags.options.conditions, ",")),
                               "run {}", run.id));
    return flags;
  } catch (const nlohmann::json::exception& error) {
    return unreadable(json_reason(error));
  }
}

}  // namespace pareto::client
