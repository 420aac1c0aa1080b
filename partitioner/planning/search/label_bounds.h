// Bounds on what a partial plan can still become. A label whose bound is covered by the front need
// not be kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "partitioner/planning/search/latency_to_go.h"
#include "partitioner/planning/search/point_front.h"
#include "partitioner/planning/search/tables.h"

namespace pareto::search {

/// The most rungs, each a program to solve and two tables to keep.
inline constexpr std::size_t kMostRungs = 8;

/// Latency-to-go under a ladder of caps. A plan's bottleneck lies between two rungs: it is above
/// the lower one, and its latency to go is at least that under the upper one. If each such pair is
/// covered, so is the plan. Other objectives that are sums have bounds of their own.
///
/// Threads: one.
class LabelBounds {
 public:
  /// `tables` and `also` outlive it. Takes as many programs as there are rungs, and one for
  /// each other objective.
  LabelBounds(const SearchTables& tables, const AlsoObjectives& also);

  /// Returns whether there is any plan at all.
  bool feasible() const { return !rungs_.empty(); }

  /// Returns whether nothing that begins like this would be new to the front. `so_far`: of all that
  /// lies before that entry or behind that exit.
  bool hopeless_at_entry(const PointFront& front, const Criteria& so_far, std::size_t usage,
                         int entry, int position) const {
    return hopeless(front, so_far,
                    [=](const LatencyToGo& to_go) { return to_go.arrive(usage, entry, position); });
  }
  bool hopeless_at_exit(const PointFront& front, const Criteria& so_far, std::size_t usage,
                        int exit, int position) const {
    return hopeless(front, so_far,
                    [=](const LatencyToGo& to_go) { return to_go.leave(usage, exit, position); });
  }

 private:
  struct Rung {
    std::int64_t cap;
    std::int64_t above;  ///< plans of this rung have at least that bottleneck
    std::unique_ptr<LatencyToGo> to_go;
  };

  template <typename ToGo>
  bool hopeless(const PointFront& front, const Criteria& so_far, ToGo to_go) const;

  std::vector<Rung> rungs_;  ///< rungs from no cap down
  /// Bounds of what is still to come of each objective that is a sum, by its place.
  std::vector<std::pair<std::size_t, std::unique_ptr<LatencyToGo>>> sums_;
};

/// Returns the sum, rounded down by more than doubles may be off.
std::int64_t rounded_down(double sum);

template <typename ToGo>
bool LabelBounds::hopeless(const PointFront& front, const Criteria& so_far, ToGo to_go) const {
  Criteria best = so_far;
  for (const auto& [place, sum] : sums_) {
    const double value = to_go(*sum);
    if (value > 1e300) return true;
    best.also[place] += rounded_down(value);
  }
  for (const Rung& rung : rungs_) {
    if (rung.cap < so_far.bottleneck) return true;
    const double latency = to_go(*rung.to_go);
    // No way under this cap: then under none of the lower ones.
    if (latency > 1e300) return true;
    best.bottleneck = std::max(so_far.bottleneck, rung.above);
    best.latency = std::max(so_far.latency + static_cast<std::int64_t>(latency), best.bottleneck);
    if (!front.covers(best)) return false;
  }
  return true;
}

}  // namespace pareto::search
