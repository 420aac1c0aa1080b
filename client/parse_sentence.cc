#include "client/parse_sentence.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "core/base/text.h"
#include "core/base/usage_pages.h"

namespace pareto::client {
namespace {

/// Returns the remedy for a second word behind a flag that takes one, or nothing. `words`: all that
/// nobody took.
std::string list_hint(const std::vector<std::string>& arguments,
                      const std::vector<std::string>& words) {
  const auto word = std::ranges::find_first_of(arguments, words);
  if (word == arguments.end() || word - arguments.begin() < 2) return {};
  const std::string& flag = *(word - 2);
  if (!flag.starts_with("--") || flag.find('=') != std::string::npos) return {};
  const std::string& value = *(word - 1);
  if (value.starts_with('-')) return {};
  return fmt::format(" (several values are one word, with commas: {} {},{})", flag, value, *word);
}

/// The text before and behind the first `joint`; no value means it is not there.
struct Halves {
  std::string before;
  std::string behind;
};
std::optional<Halves> cut_at(std::string_view text, std::string_view joint) {
  const std::size_t at = text.find(joint);
  if (at == std::string_view::npos) return std::nullopt;
  return Halves{std::string(text.substr(0, at)), std::string(text.substr(at + joint.size()))};
}

/// Returns the keys of a plan file that say what a flag says: "\"micro_batch\"".
std::string plan_key(const std::string& flag) {
  if (flag == "--transport") return "\"transport\" or \"transports\"";
  if (flag == "--split" || flag == "--splits") return "\"splits\" and \"stages\"";
  if (flag == "--codec") return "\"codecs\"";
  std::string key = flag.substr(flag.find_first_not_of('-'));
  std::ranges::replace(key, '-', '_');
  return "\"" + key + "\"";
}

/// Says of "--plan excludes --transport" which key of the file counts.
std::optional<std::string> exclusion(const std::string& said) {
  auto flags = cut_at(said, " excludes ");
  if (!flags) return std::nullopt;
  const auto is_plan = [](const std::string& flag) {
    return flag == "--plan" || flag == "--plans";
  };
  if (is_plan(flags->behind)) std::swap(flags->before, flags->behind);
  if (!is_plan(flags->before)) {
    return fmt::format("{} does not go with {}", flags->behind, flags->before);
  }
  return fmt::format(
      "{} does not go with {}: a plan file says that itself, as {}; change it there, "
      "or leave {} out",
      flags->behind, flags->before, plan_key(flags->behind), flags->before);
}

/// Says of "Could not convert: --rounds = many" what is needed. CLI11 converts numbers only.
std::optional<std::string> conversion(const std::string& said) {
  const auto start = cut_at(said, "Could not convert: ");
  const auto parts = start ? cut_at(start->behind, " = ") : std::nullopt;
  if (!parts) return std::nullopt;
  double number = 0;
  const char* const end = parts->behind.data() + parts->behind.size();
  const auto [at, status] = std::from_chars(parts->behind.data(), end, number);
  const bool is_number = status == std::errc() && at == end && !parts->behind.empty();
  return fmt::format(
      "{} {}: {}", parts->before, parts->behind,
      is_number ? "a whole number is needed, and not too large a one" : "a number is needed");
}

/// Says of "--svg: 1 required FILE missing" what it needs.
std::optional<std::string> missing_value(const std::string& said) {
  const auto parts = cut_at(said, ": 1 required ");
  const auto value = parts ? cut_at(parts->behind, " missing") : std::nullopt;
  if (!value || !value->behind.empty()) return std::nullopt;
  return fmt::format("{} needs a value: {} {}", parts->before, parts->before, value->before);
}

/// Returns what the parser says, in words of people if they are known.
std::string words_of(const CLI::ParseError& error) {
  std::string said = usage::without_proposals(error.what());
  for (const auto& in_words : {exclusion, conversion, missing_value}) {
    if (auto words = in_words(said)) return *std::move(words);
  }
  return said;
}

}  // namespace

std::string parse_sentence(const CLI::ParseError& error, const CLI::App& app,
                           const std::vector<std::string>& arguments) {
  const auto chosen = app.get_subcommands();
  const CLI::App& asked = chosen.empty() ? app : *chosen.front();
  const std::string help =
      fmt::format("(paretoctl {}--help)", chosen.empty() ? std::string() : asked.get_name() + " ");
  const std::vector<std::string> extra = app.remaining(/*recurse=*/true);
  const auto flag =
      std::ranges::find_if(extra, [](const auto& word) { return word.starts_with('-'); });
  if (flag == extra.end()) {
    return fmt::format("{}{} {}", words_of(error), list_hint(arguments, extra), help);
  }
  std::vector<std::string> flags;
  for (const usage::OptionUsage& option : usage::usage_of(asked).options) {
    flags.insert(flags.end(), option.names.begin(), option.names.end());
  }
  const std::string name = flag->substr(0, flag->find('='));
  return fmt::format("{} does not know {}{} {}", chosen.empty() ? "paretoctl" : asked.get_name(),
                     name, did_you_mean(name, flags), help);
}

}  // namespace pareto::client
