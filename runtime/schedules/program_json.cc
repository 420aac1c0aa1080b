#include <nlohmann/json.hpp>

#include "core/base/json_text.h"
#include "core/base/text.h"
#include "runtime/schedules/program.h"

namespace pareto::schedules {
namespace {

using Json = nlohmann::ordered_json;

void put(Json& json, const char* key, const std::string& text) {
  if (!text.empty()) json[key] = text;
}

void put(Json& json, const char* key, const std::vector<std::string>& texts) {
  if (!texts.empty()) json[key] = texts;
}

Json json_of(const UnitRule& rule) {
  Json json = Json::object();
  put(json, "name", rule.name);
  put(json, "modules", rule.modules);
  put(json, "except", rule.except);
  put(json, "operators", rule.operators);
  put(json, "sequence", rule.sequence);
  if (rule.join) json["join"] = true;
  put(json, "tags", rule.tags);
  put(json, "worker", rule.worker);
  return json;
}

Json json_of(const OrderRule& rule) {
  switch (rule.by) {
    case OrderRule::By::kTag:
      return {{"tag", rule.tag}};
    case OrderRule::By::kPart:
      return {{"part", rule.reversed ? "later" : "earlier"}};
    case OrderRule::By::kPath:
      break;
  }
  return {{"path", rule.reversed ? "shortest" : "longest"}};
}

Json json_of(const ProgramWorker& worker) {
  Json json{{"name", worker.name}};
  put(json, "takes", worker.takes);
  return json;
}

template <typename Item>
void put(Json& json, const char* key, const std::vector<Item>& items) {
  for (const Item& item : items) json[key].push_back(json_of(item));
}

}  // namespace

std::string to_json(const Program& program) {
  Json json = Json::object();
  put(json, "units", program.units);
  if (program.split != SplitRule{}) {
    json["split"] = {{"parts", program.split.parts}, {"at_least", program.split.at_least}};
    put(json["split"], "only", program.split.only);
  }
  put(json, "order", program.order);
  put(json, "workers", program.workers);
  if (program.most_memory > 0) json["most_memory"] = program.most_memory;
  return dump(json);
}

Expected<Program> program_from_json(const std::string& text) {
  // What is JSON is YAML too: one reader checks both. The stricter form comes first, because it has
  // no anchors, by which a small text can stand for a large one.
  if (text.size() <= kMostProgramBytes && !nlohmann::json::accept(text)) {
    return fail(ErrorCode::kInvalidArgument, "the program of a schedule is not JSON");
  }
  return program_from_yaml(text, "program");
}

}  // namespace pareto::schedules
