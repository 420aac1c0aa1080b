#include "partitioner/planning/outlook/choose.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/text.h"

namespace pareto::planning {
namespace {

using Kind = Preference::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 3> kNames{
    {{"balanced", Kind::kBalanced},
     {"latency", Kind::kLatency},
     {"throughput", Kind::kThroughput}}};

double latency_ms(const OperatingPoint& point) { return to_milliseconds(point.latency); }

}  // namespace

Expected<search::AlsoObjectives> parse_also(std::string_view names) {
  return with_context(find_objectives(split_list(names), searched_objectives()), "--also");
}

Expected<Preference> parse_preference(std::string_view name, const search::AlsoObjectives& also) {
  for (std::size_t i = 0; i < also.size(); ++i) {
    if (also[i]->name == name) return Preference{Kind::kAlso, i};
  }
  const auto found = std::ranges::find(kNames, name, &std::pair<std::string_view, Kind>::first);
  if (found != kNames.end()) return Preference{found->second};
  return fail(ErrorCode::kInvalidArgument,
              "--prefer {}: balanced, latency or throughput, or what --also names", name);
}

std::optional<std::size_t> choose_plan(const std::vector<search::FrontPoint>& front,
                                       const Limits& limits, Preference preference,
                                       std::int64_t batch) {
  const auto cost = [&](const search::FrontPoint& one) {
    switch (preference.kind) {
      case Kind::kLatency:
        return latency_ms(one.point);
      case Kind::kThroughput:
        return -one.point.throughput_per_s();
      case Kind::kAlso:
        return static_cast<double>(one.also[preference.also]);
      case Kind::kBalanced:
        break;
    }
    return latency_ms(one.point) / one.point.throughput_per_s();
  };
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < front.size(); ++i) {
    const double samples = front[i].point.throughput_per_s() * static_cast<double>(batch);
    if (latency_ms(front[i].point) > limits.latency_ms || samples < limits.samples_per_s) continue;
    if (!best || cost(front[i]) < cost(front[*best])) best = i;
  }
  return best;
}

std::optional<std::size_t> beaten_by(const std::vector<search::FrontPoint>& front,
                                     const OperatingPoint& point, double share,
                                     const Values& also) {
  for (std::size_t i = 0; i < front.size(); ++i) {
    const double slower = latency_ms(point) / latency_ms(front[i].point);
    const double less = front[i].point.throughput_per_s() / point.throughput_per_s();
    if (!std::ranges::equal(front[i].also, also, std::ranges::less_equal{})) continue;
    if (slower >= 1 && less >= 1 && std::max(slower, less) > 1 + share) return i;
  }
  return std::nullopt;
}

}  // namespace pareto::planning
