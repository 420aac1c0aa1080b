// From a predicted front to the plan that somebody wants.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "partitioner/planning/search/search_strategy.h"

namespace pareto::planning {

/// The figure that is to be as good as possible among the plans that pass.
enum class Preference {
  kBalanced,  ///< the smallest product of latency and time between results
  kLatency,
  kThroughput,
  kThird,  ///< FrontPoint::third
};
/// Parses "energy", "memory", "loss"; "" is none. Fails: kInvalidArgument with the names.
Expected<ThirdObjective> parse_third(std::string_view name);
/// Returns the name of the objective.
std::string_view to_string(ThirdObjective third);
/// Parses "balanced", "latency", "throughput", and the name of `third`. Fails: kInvalidArgument
/// with the names.
Expected<Preference> parse_preference(std::string_view name,
                                      ThirdObjective third = ThirdObjective::kNone);

struct Limits {
  double latency_ms = std::numeric_limits<double>::infinity();  ///< at most this latency
  double samples_per_s = 0;                                     ///< at least this rate
};

/// Returns the place in the front of the best plan within the limits; no value if no plan passes.
/// `batch`: samples of a request.
std::optional<std::size_t> choose_plan(const std::vector<FrontPoint>& front, const Limits& limits,
                                       Preference preference, std::int64_t batch);

/// Returns the place of the first plan of the front that beats a point: no slower, no less
/// throughput, no more of the third objective, and better in latency or throughput by more than
/// `share` of it; no value if the point lies on the front, or that near to it.
std::optional<std::size_t> beaten_by(const std::vector<FrontPoint>& front,
                                     const OperatingPoint& point, double share = 0,
                                     std::int64_t third = 0);

}  // namespace pareto::planning
