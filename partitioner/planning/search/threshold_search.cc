#include "partitioner/planning/search/threshold_search.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "partitioner/planning/search/latency_to_go.h"

namespace pareto::search {
namespace {

/// The time of no plan: later than all.
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// A placement found on the way.
struct Found {
  std::int64_t latency;
  std::int64_t bottleneck;
  std::size_t witness;
};

/// The fastest placements found so far, each under a cap on the bottleneck.
///
/// Threads: one.
class Thresholds {
 public:
  Thresholds(const planning::CostInputs& inputs, SearchTables tables,
             std::vector<planning::Placement>& witnesses)
      : inputs_(inputs), witnesses_(witnesses), tables_(std::move(tables)), to_go_(tables_) {}

  /// Settles all windows in range that are better than smaller ones.
  void run(planning::WindowRange windows, PointFront& front) {
    if (try_cap(kUncapped) == kNever) return;
    std::int64_t window = windows.least;
    while (window <= windows.most) {
      settle(window);
      const Found& best = best_at(window);
      const std::int64_t response = response_of(best, window);
      // Up to where the bottleneck shows, more requests in flight cost no time.
      window = std::clamp(response / best.bottleneck, window, std::int64_t{windows.most});
      front.add({Nanoseconds(response), static_cast<int>(window)}, planning::Values{},
                best.witness);
      // Nothing has a smaller bottleneck: larger windows only take longer.
      if (response <= window * (impossible_ + 1)) return;
      ++window;
    }
  }

  int caps_tried() const { return static_cast<int>(least_.size()); }

 private:
  static constexpr std::int64_t kUncapped = std::int64_t{1} << 52;

  static std::int64_t response_of(const Found& found, std::int64_t window) {
    return std::max(found.latency, window * found.bottleneck);
  }

  const Found& best_at(std::int64_t window) const {
    return *std::ranges::min_element(
        found_, {}, [window](const Found& found) { return response_of(found, window); });
  }

  /// f(cap), kept; a placement that reaches it joins those found.
  std::int64_t try_cap(std::int64_t cap) {
    const auto known = least_.find(cap);
    if (known != least_.end()) return known->second;
    const auto latency = to_go_.solve(cap);
    least_[cap] = latency.value_or(kNever);
    if (!latency) {
      impossible_ = std::max(impossible_, cap);
      return kNever;
    }
    planning::Placement placement = to_go_.trace();
    if (const auto evaluation = planning::evaluate(inputs_, placement)) {
      found_.push_back(
          {evaluation->latency.count(), evaluation->bottleneck.count(), witnesses_.size()});
      witnesses_.push_back(std::move(placement));
    }
    return *latency;
  }

  /// Returns the bound that no placement is below at this window, by all caps tried, and since a
  /// bottleneck is at least 1. f descends and window * (cap + 1) ascends with the cap, so the best
  /// of the bounds are those next to the crossing.
  std::int64_t bound(std::int64_t window) const {
    std::int64_t best = window;
    for (const auto& [cap, latency] : least_) {
      const std::int64_t beyond = cap >= kUncapped ? kNever : window * (cap + 1);
      best = std::max(best, std::min(latency, beyond));
      if (beyond >= latency) break;
    }
    return best;
  }

  /// Searches until the best placement found is no worse than the bound.
  void settle(std::int64_t window) {
    for (int turn = 0;; ++turn) {
      const std::int64_t most = response_of(best_at(window), window);
      const std::int64_t least = bound(window);
      if (least >= most) return;
      // In turns: is anything better at all, where would the two lines cross, and the middle, so
      // that it ends in any case.
      std::int64_t response = most - 1;
      if (turn % 3 == 1) response = crossing(window);
      if (turn % 3 == 2) response = least + (most - least) / 2;
      try_cap(std::clamp(response, least, most - 1) / window);
    }
  }

  /// Returns where f, as a line between the two caps next to the crossing, meets window * cap.
  std::int64_t crossing(std::int64_t window) const {
    const auto after = std::ranges::find_if(least_, [window](const auto& tried) {
      return tried.first >= kUncapped || window * (tried.first + 1) >= tried.second;
    });
    if (after == least_.begin() || after == least_.end()) return 0;
    const auto before = std::prev(after);
    if (before->second == kNever) return 0;
    const auto low = static_cast<double>(before->first);
    const double high = after->first >= kUncapped
                            ? static_cast<double>(after->second) / static_cast<double>(window)
                            : static_cast<double>(after->first);
    const double slope =
        (static_cast<double>(before->second) - static_cast<double>(after->second)) / (high - low);
    const double cap =
        (static_cast<double>(before->second) + slope * low) / (static_cast<double>(window) + slope);
    return static_cast<std::int64_t>(cap * static_cast<double>(window));
  }

  const planning::CostInputs& inputs_;
  std::vector<planning::Placement>& witnesses_;
  SearchTables tables_;
  LatencyToGo to_go_;
  std::vector<Found> found_;
  std::map<std::int64_t, std::int64_t> least_;  ///< f, by cap
  std::int64_t impossible_ = 0;                 ///< the largest cap known to allow no placement
};

}  // namespace

Expected<int> threshold_search(const planning::CostInputs& inputs, planning::WindowRange windows,
                               PointFront& front, std::vector<planning::Placement>& witnesses) {
  SearchTables tables = make_tables(inputs, {}, 1);
  PARETO_TRY(check_size(tables, sizeof(double)));
  Thresholds thresholds(inputs, std::move(tables), witnesses);
  thresholds.run(windows, front);
  return thresholds.caps_tried();
}

}  // namespace pareto::search
