// The best operating points so far. What every strategy collects its results in, and prunes by.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "partitioner/planning/search/search_strategy.h"

namespace pareto::search {

/// The criteria that decide whether a placement is worth keeping; smaller is better in all.
struct Criteria {
  std::int64_t latency = 0;     ///< L
  std::int64_t bottleneck = 1;  ///< B, 1 <= B <= L
  planning::Values also{};      ///< values of the plan, in the order of SearchOptions::also
};

/// A front of operating points that grows.
///
/// Threads: one.
class PointFront {
 public:
  explicit PointFront(planning::WindowRange windows, AlsoObjectives also = {})
      : windows_(windows), also_(std::move(also)) {}

  struct Entry {
    std::int64_t latency;  ///< latency of the point, not only of the placement
    std::int64_t window;
    planning::Values also;  ///< values at the point
    std::size_t witness;    ///< witness as given to add()
  };

  /// Returns whether some point so far is at least as good in everything as each that a placement
  /// with these criteria could have. What has no smaller criteria than covered ones is covered as
  /// well: more of any never makes a better point.
  bool covers(const Criteria& criteria) const;
  /// Adds the points of a placement, if they are good for something: then its witness is kept.
  /// Points that they beat go.
  bool add(const Criteria& criteria, std::size_t witness);
  /// Adds a point. `also` are the plan's values of the other objectives.
  bool add(planning::OperatingPoint point, const planning::Values& also, std::size_t witness);

  /// Returns the entries by ascending latency, then descending throughput.
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  /// Returns the windows of operating_points(), perhaps twice the same.
  std::array<std::int64_t, 2> windows_of(const Criteria& criteria) const;
  Entry entry_at(std::int64_t latency, std::int64_t window, const planning::Values& also,
                 std::size_t witness) const;
  /// Returns whether a is nowhere worse than b.
  bool as_good(const Entry& a, const Entry& b) const;
  bool covers_point(const Entry& point) const;
  bool add_point(const Entry& point);

  planning::WindowRange windows_;
  AlsoObjectives also_;
  std::vector<Entry> entries_;
};

/// Returns the values of a plan in the order of `also`.
planning::Values also_of(const planning::Evaluation& evaluation, const AlsoObjectives& also);
/// Returns the values of a plan at a point, in the order of `also`.
planning::Values also_at(const planning::Evaluation& evaluation, const AlsoObjectives& also,
                         const planning::OperatingPoint& point);

/// Evaluates witnesses: entries become the result of a search. Fails: kInternal (a witness that is
/// not what its entry says).
Expected<std::vector<FrontPoint>> with_placements(const PointFront& front,
                                                  std::span<const planning::Placement> witnesses,
                                                  const planning::CostInputs& inputs,
                                                  const SearchOptions& options);

/// Checks what each search checks first. Fails: kInvalidArgument.
Expected<> check_search(const planning::CostInputs& inputs, const SearchOptions& options);

/// Adds a placement's points where it is possible, and the placement to `witnesses` where they are
/// good for something.
void add_placement(const planning::CostInputs& inputs, const SearchOptions& options,
                   planning::Placement placement, PointFront& front,
                   std::vector<planning::Placement>& witnesses);
/// Adds every device that runs the whole model by itself, with every codec of its two links.
/// Placements go to `witnesses`.
void add_lone_devices(const planning::CostInputs& inputs, const SearchOptions& options,
                      PointFront& front, std::vector<planning::Placement>& witnesses);

}  // namespace pareto::search
