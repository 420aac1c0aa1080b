// Parses JSON that may be nested as deeply as its bytes allow. The library reads any depth, but
// copies and writes values by recursion, which ends on the stack.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

namespace pareto {

/// The deepest nesting of lists and objects that any document of ours could need.
inline constexpr std::size_t kDeepestDocument = 64;

/// Returns whether lists and objects of a text are nested deeper than kDeepestDocument.
inline bool is_too_deep(std::string_view json) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestDocument) return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

/// Parses a text into `Json`, nlohmann's or its ordered kind. Throws: as Json::parse, and
/// Json::out_of_range if is_too_deep().
template <typename Json>
Json parse_json(std::string_view text) {
  if (is_too_deep(text)) {
    throw Json::out_of_range::create(
        408, fmt::format("it is nested deeper than {} levels", kDeepestDocument), nullptr);
  }
  return Json::parse(text);
}

/// Returns the same, or a discarded value in place of an exception.
template <typename Json>
Json parse_json_or_discard(std::string_view text) {
  if (is_too_deep(text)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace pareto
