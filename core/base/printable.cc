#include "core/base/printable.h"

#include <optional>
#include <utility>

namespace pareto {
namespace {

/// Reads the code point at the start of the bytes and how many bytes it takes; no value if it is no
/// UTF-8.
std::optional<std::pair<char32_t, std::size_t>> code_point(std::string_view bytes) {
  const auto lead = static_cast<unsigned char>(bytes[0]);
  if (lead < 0x80) return {{lead, 1}};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || bytes.size() < length) return std::nullopt;
  char32_t value = lead & (0x7FU >> length);
  for (const char c : bytes.substr(1, length - 1)) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) return std::nullopt;
    value = value << 6 | (static_cast<unsigned char>(c) & 0x3F);
  }
  const char32_t least = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < least || value > 0x10FFFF || surrogate) return std::nullopt;
  return {{value, length}};
}

/// Returns whether a character ends a line or paragraph, or changes the direction of those around
/// it (Unicode, bidirectional controls).
bool ends_line_or_turns(char32_t value) {
  return value == 0x61C || value == 0x200E || value == 0x200F || value == 0x2028 ||
         value == 0x2029 || (value >= 0x202A && value <= 0x202E) ||
         (value >= 0x2066 && value <= 0x2069);
}

/// Returns how many bytes the character at their start takes; 0: it is none that may be shown.
std::size_t printable_length(std::string_view bytes) {
  const auto next = code_point(bytes);
  if (!next) return 0;
  const auto [value, length] = *next;
  const bool controls = value < 0x20 || (value >= 0x7F && value < 0xA0);
  return controls || ends_line_or_turns(value) ? 0 : length;
}

}  // namespace

bool is_printable(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t length = printable_length(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view bytes, std::size_t most) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t length = printable_length(bytes);
    const std::string_view next = length == 0 ? std::string_view(" ") : bytes.substr(0, length);
    if (text.size() + next.size() > most) break;
    text += next;
    bytes.remove_prefix(next.size());
  }
  return text;
}

std::string printable_lines(std::string_view bytes) {
  std::string text;
  for (bool first = true; first || !bytes.empty(); first = false) {
    if (!first) {
      text += '\n';
      bytes.remove_prefix(1);
    }
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    text += printable(line, line.size());
    bytes.remove_prefix(line.size());
  }
  return text;
}

}  // namespace pareto
