#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "partitioner/planning/simulation/scenario_file.h"

namespace pareto::simulation {
namespace {

constexpr std::size_t kMostRequests = 10'000'000;

Expected<double> number_of(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) {
    return fail(ErrorCode::kInvalidArgument, "\"{}\" is not a number", text);
  }
  return number;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

}  // namespace

Expected<double> parse_request_rate(std::string_view text) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  const std::size_t slash = text.find('/');
  for (const Unit& unit : {Unit{"s", 1}, Unit{"min", 60}, Unit{"h", 3600}}) {
    if (slash == std::string_view::npos || trimmed(text.substr(slash + 1)) != unit.name) continue;
    if (const auto number = number_of(trimmed(text.substr(0, slash))); number && *number > 0) {
      return *number / unit.seconds;
    }
  }
  return fail(ErrorCode::kInvalidArgument, "\"{}\" is not a rate such as 20/s, 90/min or 3600/h",
              text);
}

Expected<std::vector<Nanoseconds>> parse_arrival_trace(std::string_view text,
                                                       std::string_view name) {
  const double most_seconds = to_seconds(kLongest);
  std::vector<Nanoseconds> gaps;
  Nanoseconds first{};
  Nanoseconds last{};
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (row.empty() || row.front() == '#') continue;
    const auto seconds = number_of(row);
    if (!seconds || *seconds < 0 || *seconds > most_seconds) {
      return fail(ErrorCode::kInvalidArgument, "{}:{}: \"{}\" is not a time in seconds", name, line,
                  row.substr(0, 40));
    }
    const Nanoseconds time = from_nanoseconds(*seconds * 1e9);
    if (!gaps.empty() && time < last) {
      return fail(ErrorCode::kInvalidArgument, "{}:{}: comes before the request above it", name,
                  line);
    }
    if (gaps.size() == kMostRequests) {
      return fail(ErrorCode::kInvalidArgument, "{}:{}: more than {} requests", name, line,
                  kMostRequests);
    }
    if (gaps.empty()) first = time;
    gaps.push_back(time - (gaps.empty() ? time : last));
    last = time;
  }
  if (gaps.size() < 2 || first == last) {
    return fail(ErrorCode::kInvalidArgument, "{}: two requests at different times are needed",
                name);
  }
  gaps.front() = (last - first) / static_cast<std::int64_t>(gaps.size() - 1);
  return gaps;
}

}  // namespace pareto::simulation
