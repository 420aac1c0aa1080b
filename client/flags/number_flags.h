// Values of flags that are whole numbers, or lists of them.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace pareto::client {

/// Parses a whole number from `least` to 1000000. Fails: kInvalidArgument naming the flag.
template <typename Number>
Expected<Number> parse_number(const std::string& text, const char* flag, Number least = 1) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [at, status] = std::from_chars(text.data(), end, number);
  if (status != std::errc() || at != end || number < least || number > 1'000'000) {
    return fail(ErrorCode::kInvalidArgument, "{} {}: a whole number from {} to 1000000 is needed",
                flag, text, least);
  }
  return number;
}

/// Parses "2,3" -> {2, 3}; "auto" -> {}. Fails with kInvalidArgument naming the flag where one is
/// below 1.
Expected<std::vector<int>> parse_stages(const std::string& text);
/// Parses "1,8" -> {1, 8}. Fails with kInvalidArgument naming the flag where one is below 1.
Expected<std::vector<std::int64_t>> parse_batches(const std::string& text);
/// Like parse_batches(), but for a flag that need not be given: "" -> {}.
Expected<std::vector<std::int64_t>> parse_named_batches(const std::string& text);

}  // namespace pareto::client
