// Whole numbers of JSON documents. The library converts any number to any type: of 8e51, or of 1.5,
// it makes an integer that nobody wrote, or one that is undefined.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

namespace pareto {

/// Returns a whole number; nothing if the value is none, or one that T does not hold.
template <typename T>
std::optional<T> integer_in(const nlohmann::json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (std::in_range<T>(number)) return static_cast<T>(number);
  } else if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    if (std::in_range<T>(number)) return static_cast<T>(number);
  } else if (value.is_number_float()) {
    // 1e9 is a whole number too. No double between these bounds is outside of 64 bits.
    constexpr double kBeyond = 9.2e18;
    const auto number = value.get<double>();
    if (number > -kBeyond && number < kBeyond && number == std::trunc(number)) {
      const auto whole = static_cast<std::int64_t>(number);
      if (std::in_range<T>(whole)) return static_cast<T>(whole);
    }
  }
  return std::nullopt;
}

/// Returns a whole number. Throws nlohmann::json::type_error if integer_in() finds none. `what`
/// names the value in its text.
template <typename T>
T json_integer(const nlohmann::json& value, const std::string& what = "type") {
  if (const auto number = integer_in<T>(value)) return *number;
  throw nlohmann::json::type_error::create(302, what + " must be a whole number within its range",
                                           &value);
}

/// Returns the number under a key of an object. Throws what at() and json_integer() throw.
template <typename T>
T json_integer_at(const nlohmann::json& object, const char* key) {
  return json_integer<T>(object.at(key), std::string("\"") + key + "\"");
}

/// Returns the number under a key of an object; `otherwise` if there is none.
template <typename T>
T json_integer_at(const nlohmann::json& object, const char* key, T otherwise) {
  return object.contains(key) ? json_integer_at<T>(object, key) : otherwise;
}

}  // namespace pareto
