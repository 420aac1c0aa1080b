#include "partitioner/planning/outlook/choose.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/text.h"

namespace pareto::planning {
namespace {

constexpr std::array<std::pair<std::string_view, Preference>, 3> kNames{
    {{"balanced", Preference::kBalanced},
     {"latency", Preference::kLatency},
     {"throughput", Preference::kThroughput}}};

constexpr std::array<std::pair<std::string_view, ThirdObjective>, 4> kThirds{
    {{"", ThirdObjective::kNone},
     {"energy", ThirdObjective::kEnergy},
     {"memory", ThirdObjective::kMemory},
     {"loss", ThirdObjective::kLoss}}};

double latency_ms(const OperatingPoint& point) { return to_milliseconds(point.latency); }

}  // namespace

Expected<ThirdObjective> parse_third(std::string_view name) {
  for (const auto& [known, third] : kThirds) {
    if (known == name) return third;
  }
  return fail(ErrorCode::kInvalidArgument, "--also {}: energy, memory or loss", name);
}

std::string_view to_string(ThirdObjective third) {
  return std::ranges::find(kThirds, third, &std::pair<std::string_view, ThirdObjective>::second)
      ->first;
}

Expected<Preference> parse_preference(std::string_view name, ThirdObjective third) {
  if (third != ThirdObjective::kNone && name == to_string(third)) return Preference::kThird;
  const auto found =
      std::ranges::find(kNames, name, &std::pair<std::string_view, Preference>::first);
  if (found != kNames.end()) return found->second;
  return fail(ErrorCode::kInvalidArgument,
              "--prefer {}: balanced, latency or throughput, or what --also names", name);
}

std::optional<std::size_t> choose_plan(const std::vector<FrontPoint>& front, const Limits& limits,
                                       Preference preference, std::int64_t batch) {
  const auto cost = [&](const FrontPoint& one) {
    switch (preference) {
      case Preference::kLatency:
        return latency_ms(one.point);
      case Preference::kThroughput:
        return -one.point.throughput_per_s();
      case Preference::kThird:
        return static_cast<double>(one.third);
      case Preference::kBalanced:
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

std::optional<std::size_t> beaten_by(const std::vector<FrontPoint>& front,
                                     const OperatingPoint& point, double share,
                                     std::int64_t third) {
  for (std::size_t i = 0; i < front.size(); ++i) {
    const double slower = latency_ms(point) / latency_ms(front[i].point);
    const double less = front[i].point.throughput_per_s() / point.throughput_per_s();
    if (front[i].third > third) continue;
    if (slower >= 1 && less >= 1 && std::max(slower, less) > 1 + share) return i;
  }
  return std::nullopt;
}

}  // namespace pareto::planning
