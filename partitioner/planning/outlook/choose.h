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
struct Preference {
  enum class Kind {
    kBalanced,  ///< the smallest product of latency and time between results
    kLatency,
    kThroughput,
    kAlso,  ///< one of FrontPoint::also
  };
  Kind kind = Kind::kBalanced;
  std::size_t also = 0;  ///< its place, of kAlso
  bool operator==(const Preference&) const = default;
};
/// Reads "energy,memory"; "" is none. Fails: kInvalidArgument with the names.
Expected<search::AlsoObjectives> parse_also(std::string_view names);
/// Reads "balanced", "latency", "throughput", or the name of one of `also`. Fails: kInvalidArgument
/// with the names.
Expected<Preference> parse_preference(std::string_view name,
                                      const search::AlsoObjectives& also = {});

struct Limits {
  double latency_ms = std::numeric_limits<double>::infinity();  ///< at most this latency
  double samples_per_s = 0;                                     ///< at least this rate
};

/// Returns the place in the front of the best plan within the limits; no value if no plan passes.
/// `batch`: samples of a request.
std::optional<std::size_t> choose_plan(const std::vector<search::FrontPoint>& front,
                                       const Limits& limits, Preference preference,
                                       std::int64_t batch);

/// Returns the place of the first plan of the front that beats a point. Such a plan is no worse in
/// any objective, and better in latency or throughput by more than `share` of it. No value means
/// that the point lies on the front, or that near to it.
std::optional<std::size_t> beaten_by(const std::vector<search::FrontPoint>& front,
                                     const OperatingPoint& point, double share = 0,
                                     const Values& also = {});

}  // namespace pareto::planning
