// Whole numbers of stored documents, as core/base/json_integer.h reads them.
#pragma once

#include <nlohmann/json.hpp>

#include "core/base/json_integer.h"

namespace pareto::results {

/// Returns a whole number. Throws as json_integer().
template <typename T>
T whole_number(const nlohmann::ordered_json& value) {
  // Only the number is copied into the other kind of document.
  return json_integer<T>(nlohmann::json(value.is_number() ? value : nlohmann::ordered_json()));
}

/// Reads the number under a key of an object into `target`. Throws what at() and whole_number()
/// throw.
template <typename T>
void read_whole(const nlohmann::ordered_json& object, const char* key, T& target) {
  target = whole_number<T>(object.at(key));
}

/// Returns the number under a key of an object; `otherwise` if there is none.
template <typename T>
T whole_number_at(const nlohmann::ordered_json& object, const char* key, T otherwise) {
  return object.contains(key) ? whole_number<T>(object.at(key)) : otherwise;
}

}  // namespace pareto::results
