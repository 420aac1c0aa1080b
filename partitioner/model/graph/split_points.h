// Split points: positions at which a graph may be cut. Each has a name, the values that cross it,
// and figures of both sides. People name some of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/plan/shard.h"
#include "partitioner/model/graph/graph.h"

namespace pareto::model {

/// The cut between operators position-1 and position; 1 <= position < operators.
struct SplitPoint {
  std::int64_t position = 0;
  /// "after:features.7" where the position follows the last operator at or under a module path (the
  /// outermost such path), else "op:41".
  std::string name;
  /// All names, the shown one first: "after:features.7", "after:features.7.conv.2", "op:41".
  std::vector<std::string> names;
  /// Values that cross, as indices into Graph::values, ascending: the order of the boundary.
  std::vector<std::int64_t> live;
  std::int64_t tensors = 0;  ///< tensors that cross, those inside lists, tuples and dicts too
  bool legal = true;
  std::string reason;  ///< why not legal
  /// True if `modules` selects it: the end of a module of the outer level.
  bool is_module_end = false;
  double flops_before = 0;  ///< per sample
  double flops_after = 0;
  std::uint64_t weight_bytes_before = 0;  ///< a weight used on both sides counts on both
  std::uint64_t weight_bytes_after = 0;
};

/// Returns every position in order, illegal ones too. `illegal` gives the reason for positions that
/// only the front end can know (aliases written later): one string a position 0 … operators, empty
/// = legal.
std::vector<SplitPoint> find_split_points(const Graph& graph,
                                          const std::vector<std::string>& illegal);

/// Returns the values that cross a position, 0 (the inputs of the model) … operators (its outputs).
std::vector<std::int64_t> live_values(const Graph& graph, std::int64_t position);
/// Returns the values that cross each position 0 … operators.
std::vector<std::vector<std::int64_t>> live_everywhere(const Graph& graph);

/// Returns what shards exchange there: between two shards, tensors have their dimensions in the
/// order of memory.
std::vector<plan::BoundaryValue> boundary(const Graph& graph, std::int64_t position);
/// Returns the bytes of a boundary at a batch.
Expected<std::uint64_t> boundary_bytes(const Graph& graph, std::int64_t position,
                                       std::int64_t batch);

/// Selects split points by a text, comma separated:
/// - `after:PATH` and `op:N` name one point.
/// - `percent:P` is the legal point whose share of the model's FLOPs is nearest.
/// - `all` is every legal point.
/// - `modules` are the ends of modules; if no module ends at a legal point, `all`.
/// - `auto` are those of `modules` that one tensor crosses, with any numbers; if there are none,
///   `modules`.
/// Returns indices into `points`, ascending, without repeats.
/// Fails: kNotFound, with the nearest names; kInvalidArgument for an illegal point, with its
/// reason.
Expected<std::vector<std::size_t>> select_split_points(const std::vector<SplitPoint>& points,
                                                       std::string_view text);
/// Returns a sentence for each cut that several parts of such a text name one by one: "percent:30
/// and percent:60 are one cut, after:features.3". Parts that select nothing are passed over.
std::vector<std::string> cuts_named_twice(const std::vector<SplitPoint>& points,
                                          std::string_view text);

}  // namespace pareto::model
