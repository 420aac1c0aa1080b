#include "core/base/json_text.h"

#include <nlohmann/json.hpp>

namespace pareto {

std::string dump(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace pareto
