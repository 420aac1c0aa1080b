#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>

namespace pareto {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

struct Unit {
  std::string_view name;
  double factor;
};

/// number × unit, where the unit's name follows the number, blanks allowed between.
Expected<double> parse_quantity(std::string_view text, std::span<const Unit> units,
                                bool unit_required, std::string_view example) {
  const std::string_view body = trimmed(text);
  double number = 0;
  const auto [end, status] = std::from_chars(body.data(), body.data() + body.size(), number);
  const std::string_view unit = trimmed(body.substr(static_cast<std::size_t>(end - body.data())));
  if (status == std::errc() && number >= 0 && std::isfinite(number)) {
    if (unit.empty() && (!unit_required || number == 0)) return number;
    for (const Unit& candidate : units) {
      if (candidate.name == unit) return number * candidate.factor;
    }
  }
  return fail(ErrorCode::kInvalidArgument, "\"{}\" is not a quantity such as {}", text, example);
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view name,
                                       std::span<const std::string> candidates, std::size_t count) {
  std::vector<std::pair<std::size_t, const std::string*>> near;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (2 * distance <= std::max(name.size(), candidate.size()))
      near.emplace_back(distance, &candidate);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(count, near.size()); ++i) names.push_back(*near[i].second);
  return names;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  const auto names = nearest_names(name, candidates);
  if (names.empty()) return "";
  std::string list = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) {
    list += (i + 1 == names.size() ? " or " : ", ") + names[i];
  }
  return fmt::format(" (did you mean {}?)", list);
}

std::vector<std::string> split_list(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t at = text.find(separator);
    const std::string_view part = trimmed(text.substr(0, at));
    if (!part.empty()) parts.emplace_back(part);
    if (at == std::string_view::npos) break;
    text.remove_prefix(at + 1);
  }
  return parts;
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    const bool room =
        !lines.empty() &&
        (columns == 0 || display_width(lines.back()) + 1 + display_width(word) <= columns);
    if (room) {
      lines.back() += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts.begin(), parts.end(), separator));
}

Expected<std::uint64_t> parse_bytes(std::string_view text) {
  constexpr std::array<Unit, 10> kUnits{{{"B", 1},
                                         {"KiB", 1024.0},
                                         {"MiB", 1024.0 * 1024},
                                         {"GiB", 1024.0 * 1024 * 1024},
                                         {"K", 1024.0},
                                         {"M", 1024.0 * 1024},
                                         {"G", 1024.0 * 1024 * 1024},
                                         {"KB", 1e3},
                                         {"MB", 1e6},
                                         {"GB", 1e9}}};
  PARETO_ASSIGN(const double bytes, parse_quantity(text, kUnits, false, "256MiB"));
  if (bytes >= 9.2e18) {
    return fail(ErrorCode::kInvalidArgument, "\"{}\" is more bytes than any machine has", text);
  }
  return static_cast<std::uint64_t>(bytes);
}

Expected<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  constexpr std::array<Unit, 6> kUnits{
      {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}}};
  // Who leaves the unit out means seconds most often.
  std::string example(trimmed(text));
  const bool is_number =
      !example.empty() && example.find_first_not_of("0123456789.") == example.npos;
  example = is_number ? example + "s" : "20ms";
  PARETO_ASSIGN(const double nanoseconds, parse_quantity(text, kUnits, true, example));
  if (nanoseconds >= 9.2e18) {
    return fail(ErrorCode::kInvalidArgument, "\"{}\" is longer than 292 years", text);
  }
  return std::chrono::nanoseconds(std::llround(nanoseconds));
}

Expected<double> parse_percentage(std::string_view text) {
  constexpr std::array<Unit, 1> kUnits{{{"%", 0.01}}};
  return parse_quantity(text, kUnits, true, "1%");
}

std::string to_percentage(double share) {
  // The percentage is up to two steps of its last bit away, because both ways are rounded.
  constexpr int kMostSteps = 2;
  std::string shortest = fmt::format("{}%", share * 100);
  bool is_exact = false;
  double percent = share * 100;
  for (int i = 0; i < kMostSteps; ++i) percent = std::nextafter(percent, 0);
  for (int i = 0; i <= 2 * kMostSteps; ++i) {
    std::string text = fmt::format("{}%", percent);
    percent = std::nextafter(percent, std::numeric_limits<double>::infinity());
    if (parse_percentage(text) != share || (is_exact && text.size() >= shortest.size())) continue;
    shortest = std::move(text);
    is_exact = true;
  }
  return shortest;
}

Expected<double> parse_share(std::string_view text) {
  PARETO_ASSIGN(const double share, parse_percentage(text));
  if (share > 1) return fail(ErrorCode::kInvalidArgument, "\"{}\" is more than 100%", text);
  return share;
}

Expected<std::int64_t> parse_power(std::string_view text) {
  constexpr std::array<Unit, 3> kUnits{{{"mW", 1}, {"W", 1e3}, {"kW", 1e6}}};
  PARETO_ASSIGN(const double milliwatts, parse_quantity(text, kUnits, true, "5W"));
  if (!(milliwatts >= 1 && milliwatts <= 1e6)) {
    return fail(ErrorCode::kInvalidArgument, "\"{}\" is not between 1mW and 1kW", text);
  }
  return std::llround(milliwatts);
}

Expected<std::uint64_t> parse_rate(std::string_view text) {
  constexpr std::array<Unit, 4> kUnits{{{"bit", 1}, {"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}}};
  PARETO_ASSIGN(const double rate, parse_quantity(text, kUnits, true, "100mbit"));
  if (rate >= 1e15) {
    return fail(ErrorCode::kInvalidArgument, "\"{}\" is faster than any link", text);
  }
  return static_cast<std::uint64_t>(rate);
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  const int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, decimals, kUnits[unit]);
}

}  // namespace pareto
