// Search strategies: find the placements of a model on devices that no other placement beats. A
// plug: one file, and one line in builtin_searches.cc. Its test is agreement with the exhaustive
// search (tests/partitioner/planning/search).
//
//   CostInputs ──search──▶ front: latency, throughput and other objectives, with a placement and a
//       window for each
//
// The space has every ordered choice of devices, every legal cut between them, every codec of every
// link between them, and every window in range. Memory limits and pins hold. The whole model on
// several devices that take turns is also in it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "partitioner/planning/cost/cost_inputs.h"
#include "partitioner/planning/cost/evaluate.h"

namespace pareto::search {

/// Objectives that are searched by next to latency and throughput, each once.
using AlsoObjectives = std::vector<const planning::Objective*>;

struct SearchOptions {
  AlsoObjectives also{};  ///< some of searched_objectives()
  planning::WindowRange windows{};
  bool replicas = true;  ///< true if plans of whole models that take turns belong to the space
  /// Comparisons between beginnings of plans after which a search gives up: the default takes
  /// minutes. Thresholds need none.
  std::int64_t comparisons = 100'000'000'000;
};

struct FrontPoint {
  planning::OperatingPoint point;
  planning::Values
      also{};  ///< values at the point, in the order of SearchOptions::also; then zeros
  planning::Placement placement;    ///< one of those that reach the point
  planning::Evaluation evaluation;  ///< evaluation of the placement
};

/// One way to find the front of all placements.
///
/// Threads: any; a strategy has no state.
class SearchStrategy {
 public:
  virtual ~SearchStrategy() = default;
  /// Returns "exact", "exhaustive": the name on command lines.
  virtual std::string_view name() const = 0;
  /// Returns the complete front by ascending latency, then descending throughput; equal points
  /// appear once. Empty if no placement is possible. `inputs` need not have been checked.
  /// Fails: kInvalidArgument (inputs that do not pass check(), an empty range), kExhausted (an
  /// instance too large for the strategy, or devices that may take turns in too many ways; with the
  /// number of devices).
  virtual Expected<std::vector<FrontPoint>> search(const planning::CostInputs& inputs,
                                                   const SearchOptions& options) const = 0;
};

/// Returns every strategy of this build, the one to use first. They live as long as the process.
const std::vector<const SearchStrategy*>& builtin_searches();
/// Finds a strategy by its name. Fails: kNotFound, with the names there are.
Expected<const SearchStrategy*> find_search(std::string_view name);

}  // namespace pareto::search
