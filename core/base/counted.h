// Counts in sentences for people.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

namespace pareto {

/// Returns "1 plan", "3 plans", "0 plans". `many`: the plural, if it is not `one` with an s.
std::string counted(std::integral auto count, std::string_view one, std::string_view many = {}) {
  if (count == 1) return fmt::format("{} {}", count, one);
  return many.empty() ? fmt::format("{} {}s", count, one) : fmt::format("{} {}", count, many);
}

}  // namespace pareto
