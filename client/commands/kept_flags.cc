#include "client/commands/kept_flags.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/text.h"
#include "core/plan/json_text.h"

namespace pareto::client {
namespace {

using Json = nlohmann::ordered_json;

/// And not a built-in name.
bool is_model_file(const std::string& model) {
  return model.find('/') != std::string::npos || model.ends_with(".pt");
}

/// `networks`: their texts by their names.
Expected<std::vector<NamedCondition>> kept_conditions(const nlohmann::json& networks) {
  std::vector<NamedCondition> conditions;
  for (const auto& [name, text] : networks.items()) {
    auto condition = parse_condition(text.get<std::string>(), "network " + name);
    if (!condition) return fail(ErrorCode::kCorrupt, "{}", condition.error().message);
    conditions.push_back({name, *std::move(condition)});
  }
  return conditions;
}

}  // namespace

std::string absolute_path(const std::string& path) {
  return path.empty() ? "" : std::filesystem::absolute(path).lexically_normal().string();
}

std::string to_json(const KeptFlags& flags) {
  const ModelFlags& model = flags.model;
  const std::string& testbed = flags.devices.testbed;
  auto networks = Json::object();
  for (const NamedCondition& one : flags.conditions) networks[one.name] = to_text(one.condition);
  Json json{{"sweep", Json::parse(to_json(flags.options))},
            {"model",
             {{"model", is_model_file(model.model) ? absolute_path(model.model) : model.model},
              {"input_shape", model.input_shape},
              {"num_classes", model.num_classes},
              {"weights", absolute_path(model.weights)},
              {"model_seed", model.model_seed}}},
            {"devices", absolute_path(flags.devices.inventory)},
            {"networks", std::move(networks)},
            {"testbed", is_testbed_file(testbed) ? absolute_path(testbed) : testbed}};
  if (flags.testbed_content) json["testbed_content"] = *flags.testbed_content;
  return dump(json);
}

Expected<KeptFlags> kept_flags(const RunRecord& run) {
  try {
    const auto json = nlohmann::json::parse(run.options_json);
    KeptFlags flags;
    PARETO_ASSIGN(flags.options, sweep_options_from_json(json.at("sweep").dump()));
    const auto& model = json.at("model");
    model.at("model").get_to(flags.model.model);
    model.at("input_shape").get_to(flags.model.input_shape);
    model.at("num_classes").get_to(flags.model.num_classes);
    model.at("weights").get_to(flags.model.weights);
    model.at("model_seed").get_to(flags.model.model_seed);
    json.at("devices").get_to(flags.devices.inventory);
    // Runs of earlier versions had none.
    flags.devices.testbed = json.value("testbed", "");
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
    return fail(ErrorCode::kCorrupt, "run {}: its flags cannot be read: {}", run.id, error.what());
  }
}

}  // namespace pareto::client
