#include "client/commands/output_names.h"

#include <fmt/format.h>

#include <charconv>

namespace pareto::client::commands {
namespace {

/// Returns N of a name "stem-N" that take() may have made of its stem; 0 if it is none.
std::uint64_t number_behind(std::string_view name, std::size_t hyphen) {
  const std::string_view digits = name.substr(hyphen + 1);
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool is_number = problem == std::errc() && end == digits.data() + digits.size();
  return is_number && digits.front() != '0' && number > 1 ? number : 0;
}

}  // namespace

std::uint64_t OutputNames::times(std::string_view name) const {
  const auto asked = asked_.find(name);
  const std::uint64_t count = asked == asked_.end() ? 0 : asked->second;
  const std::size_t hyphen = name.rfind('-');
  if (hyphen == std::string_view::npos) return count;
  const std::uint64_t number = number_behind(name, hyphen);
  return number > 0 && times(name.substr(0, hyphen)) >= number ? count + 1 : count;
}

std::string OutputNames::take(const std::string& stem) {
  ++asked_[stem];
  std::string name = stem;
  for (std::uint64_t often = times(name); often > 1; often = times(name)) {
    name += fmt::format("-{}", often);
  }
  return name;
}

void OutputNames::give_back(const std::string& stem) {
  const auto asked = asked_.find(stem);
  if (asked != asked_.end() && --asked->second == 0) asked_.erase(asked);
}

}  // namespace pareto::client::commands
