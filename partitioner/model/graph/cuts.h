// A cut that takes any set of operators, not only those before a position: as long as each has all
// that it needs. A plan whose cuts are such sets runs the same operators in another order.
//
//   Graph + operators before the cut ──▶ what crosses it; position p is the set [0, p)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/plan/operator_ranges.h"
#include "core/plan/shard.h"
#include "partitioner/model/graph/graph.h"

namespace pareto::model {

/// Returns the values that cross, as indices into Graph::values, ascending; of no operators the
/// inputs of the model, of all its outputs.
std::vector<std::int64_t> live_values(const Graph& graph, const plan::OperatorRanges& before);
/// Returns what shards exchange there: between two shards, tensors have their dimensions in the
/// order of memory.
std::vector<plan::BoundaryValue> boundary(const Graph& graph, const plan::OperatorRanges& before);
/// Returns the bytes of it at a batch.
Expected<std::uint64_t> boundary_bytes(const Graph& graph, const plan::OperatorRanges& before,
                                       std::int64_t batch);

/// Checks that the graph may be cut there. Fails: kInvalidArgument naming an operator that is not
/// there, that lacks what it needs (with the value), or that would be parted from another (with the
/// reason).
Expected<> check_cut(const Graph& graph, const plan::OperatorRanges& before);

/// Returns "op:41" of the first 41 operators; "op:41:50-60" of those and [50, 60).
std::string cut_name(const plan::OperatorRanges& before);

}  // namespace pareto::model
