// JSON as text, whatever its strings hold.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace pareto {

/// Bytes that are no UTF-8 (a path may hold any) become U+FFFD, and what is no finite number null.
/// indent < 0: one line. Throws nothing but std::bad_alloc.
std::string dump(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace pareto
