#include "core/base/json_reason.h"

#include <fmt/format.h>

#include <string_view>

namespace pareto {
namespace {

// nlohmann/json numbers its exceptions: 101 is a syntax error, 403 a key that is not there.
constexpr int kSyntax = 101;
constexpr int kMissingKey = 403;
// What is inside a value that has nothing inside: at(), an index, value().
constexpr int kFirstWrongKind = 304;
constexpr int kLastWrongKind = 306;

/// Returns the text between the first and the last mark; all of it where there are no two.
std::string_view between(std::string_view text, char mark) {
  const std::size_t begin = text.find(mark);
  const std::size_t end = text.rfind(mark);
  return begin == end ? text : text.substr(begin + 1, end - begin - 1);
}

/// Says what was expected of a value, from "cannot use at() with array".
std::string wrong_kind(std::string_view text) {
  const std::string_view kind = text.substr(text.rfind(' ') + 1);
  if (kind == "array") return "an object is expected where a list is";
  if (kind == "object") return "a list is expected where an object is";
  return fmt::format("a list or an object is expected where there is a {}", kind);
}

}  // namespace

std::string json_reason(const nlohmann::json::exception& error) {
  // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while …"
  std::string_view text = error.what();
  if (const std::size_t end = text.find("] "); text.starts_with('[') && end != text.npos) {
    text.remove_prefix(end + 2);
  }
  if (error.id == kMissingKey) return fmt::format("\"{}\" is missing", between(text, '\''));
  if (error.id >= kFirstWrongKind && error.id <= kLastWrongKind) return wrong_kind(text);
  constexpr std::string_view kParseError = "parse error ";
  if (error.id == kSyntax && text.starts_with(kParseError)) {
    return fmt::format("no JSON {}", text.substr(kParseError.size()));
  }
  return std::string(text);
}

}  // namespace pareto
