#include "partitioner/planning/frontiers/frontier_file.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/config_reader.h"

namespace pareto::planning {
namespace {

constexpr std::size_t kMostEntries = 65'536;
constexpr std::int64_t kMostOperators = 1 << 20;

std::optional<std::int64_t> place_of(std::string_view text) {
  std::int64_t place = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), place);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && place >= 0 && place <= kMostOperators ? std::optional(place) : std::nullopt;
}

/// Reads "12" as one operator, "12-20" as those from 12 to 20, which is not among them.
std::optional<plan::OperatorRange> range_of(std::string_view text) {
  const auto dash = text.find('-');
  const auto begin = place_of(text.substr(0, dash));
  if (!begin) return std::nullopt;
  if (dash == std::string_view::npos) return plan::OperatorRange{*begin, *begin + 1};
  const auto end = place_of(text.substr(dash + 1));
  if (!end || *end <= *begin) return std::nullopt;
  return plan::OperatorRange{*begin, *end};
}

void read_ranges(ConfigSection& root, const char* key, plan::OperatorRanges& target) {
  std::vector<std::string> texts;
  root.optional(key, texts);
  if (texts.size() > kMostEntries) {
    root.problem(key, fmt::format("has {} entries; there may be {}", texts.size(), kMostEntries));
    return;
  }
  for (const std::string& text : texts) {
    if (const auto range = range_of(text)) {
      target.push_back(*range);
    } else {
      root.problem(key,
                   fmt::format("\"{}\" is neither an operator (12) nor a range of them (12-20, "
                               "the end not among them)",
                               text));
    }
  }
  target = plan::united(std::move(target));
}

Expected<FrontierFile> read_document(ConfigReader& document) {
  FrontierFile file;
  ConfigSection root = document.root();
  root.optional("modules", file.modules);
  read_ranges(root, "operators", file.operators);
  read_ranges(root, "ranges", file.ranges);
  const bool closes = !file.modules.empty() || !file.operators.empty();
  if (closes && !file.ranges.empty()) {
    root.problem("ranges", "are all operators before the cut: leave out modules and operators");
  } else if (!closes && !root.has("ranges")) {
    root.problem("modules", "is needed, or operators or ranges: what lies before the cut");
  }
  PARETO_TRY(document.finish());
  return file;
}

}  // namespace

Expected<FrontierFile> read_frontier(const std::filesystem::path& path) {
  PARETO_ASSIGN(ConfigReader document, ConfigReader::from_file(path));
  return read_document(document);
}

Expected<FrontierFile> parse_frontier(const std::string& text, const std::string& name) {
  PARETO_ASSIGN(ConfigReader document, ConfigReader::from_text(text, name));
  return read_document(document);
}

}  // namespace pareto::planning
