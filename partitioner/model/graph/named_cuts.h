// Cuts that people name. A cut takes any set of operators that holds all that they need: a position
// of the model's order is the set of those before it.
//
//   "after:left+right", "op:41:50-60" ──find_cut──▶ Cut ──▶ plans, shards
//   operators before a cut ──name_of_cut──▶ a name that finds it again
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/plan/operator_ranges.h"
#include "partitioner/model/graph/graph.h"
#include "partitioner/model/graph/split_points.h"

namespace pareto::model {

struct Cut {
  std::string name;             ///< "after:features.7", "after:left+right", "op:41:50-60"
  plan::OperatorRanges before;  ///< operators that run before it: some, not all
  bool operator==(const Cut&) const = default;
};

/// Returns the cut at a position of the model's order.
Cut cut_at(const SplitPoint& point);
/// Returns those of chosen split points, which are indices into `points`.
std::vector<Cut> cuts_at(const std::vector<SplitPoint>& points,
                         const std::vector<std::size_t>& chosen);
/// Returns whether operators are the first ones of the model's order.
bool is_position(const plan::OperatorRanges& before);
/// Returns whether a name is of a set of operators, and not of a position or of several cuts:
/// "after:left+right", "only:left", "op:41:50-60".
bool is_name_of_set(std::string_view name);

/// Returns whether a set has all operators of another one.
bool holds_all(const plan::OperatorRanges& set, const plan::OperatorRanges& part);
/// Returns the smallest set that holds these operators and all that they need.
plan::OperatorRanges closed(const Graph& graph, const std::vector<std::int64_t>& operators);
/// Returns the operators at or under module paths. Fails: kNotFound, with the nearest path.
Expected<std::vector<std::int64_t>> operators_of_modules(const Graph& graph,
                                                         const std::vector<std::string>& modules);

/// Checks a cut before that set, and names it. Fails: kInvalidArgument (nothing lies before or
/// behind it), and as check_cut() does; of a position with the reason of the split point.
Expected<Cut> checked_cut(const Graph& graph, const std::vector<SplitPoint>& points,
                          plan::OperatorRanges before);

/// Finds the cut of one name:
/// - `after:LEFT+RIGHT` is the smallest set that holds both modules and all that they need.
/// - `only:LEFT` is the same of one module; `after:LEFT` is a position, with all before it.
/// - `op:41:50-60` is the first 41 operators, and 50 to 60.
/// - Other names are of one split point, as select_split_points() finds it.
/// Fails: kNotFound, with the nearest names; kInvalidArgument naming the value and the operator
/// that forbid it.
Expected<Cut> find_cut(const Graph& graph, const std::vector<SplitPoint>& points,
                       std::string_view name);

/// Returns the name of a legal cut: that of its position, else of modules that end at it, else of
/// its operators. find_cut() finds it again.
std::string name_of_cut(const Graph& graph, const std::vector<SplitPoint>& points,
                        const plan::OperatorRanges& before);

/// Parts a list of names, separated by commas, or joined by '+' as tables join them:
/// "after:left+right+op:41" is two.
std::vector<std::string> split_cut_names(std::string_view text);

}  // namespace pareto::model
