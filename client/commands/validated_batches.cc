#include "client/commands/validated_batches.h"

#include "core/base/json_parse.h"

namespace pareto::client::commands {

nlohmann::json validated_by(const std::string& text, const std::string& torch_version) {
  auto json = parse_json_or_discard<nlohmann::json>(text);
  if (!json.is_object()) return nlohmann::json::object();
  const auto version = json.find("torch");
  if (version == json.end() || *version != torch_version) return nlohmann::json::object();
  return json;
}

std::set<std::int64_t> validated_batches_in(const nlohmann::json& remembered, const char* part,
                                            const std::string& cut) {
  std::set<std::int64_t> batches;
  const auto cuts = remembered.find(part);
  if (cuts == remembered.end() || !cuts->is_object()) return batches;
  const auto found = cuts->find(cut);
  if (found == cuts->end() || !found->is_array()) return batches;
  for (const nlohmann::json& batch : *found) {
    if (batch.is_number_integer()) batches.insert(batch.get<std::int64_t>());
  }
  return batches;
}

}  // namespace pareto::client::commands
