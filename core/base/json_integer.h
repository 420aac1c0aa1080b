// Whole numbers of JSON documents. The JSON library converts any number to any type: from 8e51, or
// from 1.5, it makes an integer that nobody wrote.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace pareto {

/// Returns the whole number in `value`. Throws nlohmann::json::type_error if it is not a whole
/// number, or does not fit into T.
template <typename T>
T json_integer(const nlohmann::json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (std::in_range<T>(number)) return static_cast<T>(number);
  } else if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    if (std::in_range<T>(number)) return static_cast<T>(number);
  } else if (value.is_number_float()) {
    // 1e9 is a whole number too. Doubles between these bounds fit into 64 bits.
    constexpr double kBeyond = 9.2e18;
    const auto number = value.get<double>();
    if (number > -kBeyond && number < kBeyond && number == std::trunc(number)) {
      const auto whole = static_cast<std::int64_t>(number);
      if (std::in_range<T>(whole)) return static_cast<T>(whole);
    }
  }
  throw nlohmann::json::type_error::create(
      302, std::string("type must be a whole number within its range"), &value);
}

/// Returns the whole number at `key` of an object, or `otherwise` if the object has no such key.
template <typename T>
T json_integer(const nlohmann::json& object, const char* key, T otherwise) {
  const auto found = object.find(key);
  return found == object.end() ? otherwise : json_integer<T>(*found);
}

}  // namespace pareto
