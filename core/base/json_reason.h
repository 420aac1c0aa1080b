// Error texts for JSON documents that are wrong, for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace pareto {

/// Returns the sentence of an exception without the library's names: "no JSON: at line 1, column 1
/// …", "\"stages\" is missing", "type must be string, but is number".
std::string json_reason(const nlohmann::json::exception& error);

}  // namespace pareto
