// Groups of operators that no cut may part, whatever their order. Such are a convolution and the
// batch norm that folds into it, or an operator and the dropout behind it. Others are values that
// share memory and the operator that writes it, or a value that cannot cross and its readers.
//
//   ties from the front end (hazards, examine) + what the graph itself shows
//       ──inseparable_groups──▶ Graph::groups
//
// A cut of positions may lie only where no group has operators on both sides; a cut of sets
// (partitioner/planning/search/ideals.h) takes whole groups.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "partitioner/model/graph/graph.h"

namespace pareto::model {

/// Returns each pair (convolution, batch norm) in which the norm folds into the convolution,
/// because nothing else reads the convolution's result.
std::vector<std::pair<std::int64_t, std::int64_t>> folded_norms(const Graph& graph);

/// Returns for each operator whether it is a dropout that belongs to the operator right before it,
/// whose value nothing else reads. In evaluation such a dropout returns what it is given, so a cut
/// on either side of it is one and the same: it is behind the dropout, under the names of both.
std::vector<bool> joined_dropouts(const Graph& graph);

/// Returns folded norms and joined dropouts as ties, each with its reason.
Ties ties_of_pairs(const Graph& graph);

/// Returns the operators that each operator needs: those whose values it reads, and
/// Operator::after. Ascending, without repeats.
std::vector<std::vector<std::int64_t>> needed_by_each(const Graph& graph);

/// Returns every operator in one group, each group ascending, and before a group all that it needs.
/// What lies on a way from one of a group to another of it belongs to it: nothing else could run it
/// in time.
std::vector<std::vector<std::int64_t>> inseparable_groups(const Graph& graph, const Ties& ties);

}  // namespace pareto::model
