// A usage as JSON, by which the front of a program knows what the program takes without loading it.
#include <nlohmann/json.hpp>

#include "core/base/json_reason.h"
#include "core/base/usage_pages.h"

namespace pareto::usage {
namespace {

using Json = nlohmann::json;

Json json_of(const OptionUsage& option) {
  return {{"names", option.names},      {"value", option.value},
          {"choices", option.choices},  {"proposals", option.proposals},
          {"initial", option.initial},  {"help", option.help},
          {"group", option.group},      {"required", option.required},
          {"repeated", option.repeated}};
}

OptionUsage option_from(const Json& json) {
  OptionUsage option;
  json.at("names").get_to(option.names);
  json.at("value").get_to(option.value);
  json.at("choices").get_to(option.choices);
  json.at("proposals").get_to(option.proposals);
  json.at("initial").get_to(option.initial);
  json.at("help").get_to(option.help);
  json.at("group").get_to(option.group);
  json.at("required").get_to(option.required);
  json.at("repeated").get_to(option.repeated);
  return option;
}

Json json_of(const Usage& usage) {
  auto options = Json::array();
  for (const OptionUsage& option : usage.options) options.push_back(json_of(option));
  auto commands = Json::array();
  for (const Usage& command : usage.commands) commands.push_back(json_of(command));
  return {{"name", usage.name},
          {"summary", usage.summary},
          {"notes", usage.notes},
          {"options", std::move(options)},
          {"commands", std::move(commands)}};
}

Usage usage_from(const Json& json) {
  Usage usage{json.at("name"), json.at("summary"), json.at("notes"), {}, {}};
  for (const Json& option : json.at("options")) usage.options.push_back(option_from(option));
  for (const Json& command : json.at("commands")) usage.commands.push_back(usage_from(command));
  return usage;
}

}  // namespace

std::string to_json(const Usage& usage) { return json_of(usage).dump() + "\n"; }

Expected<Usage> usage_from_json(std::string_view text) {
  try {
    return usage_from(Json::parse(text));
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kCorrupt, "a usage that cannot be read: {}", json_reason(error));
  }
}

}  // namespace pareto::usage
