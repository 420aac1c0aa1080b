// The characters of names and numbers in TorchScript code, and names as LibTorch compares them.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace pareto::runtime {

/// Returns whether a character may stand in a name.
inline bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Returns a record's name as LibTorch compares it when it looks for one.
inline std::string lower_case(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

}  // namespace pareto::runtime
