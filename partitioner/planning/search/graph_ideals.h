// The ideals of a model's graph. An ideal is a set of operators that a chain of devices may have
// run before a cut.
//
//   Graph (its groups) ──data_flow──▶ DataFlow ──find_ideals──▶ GraphIdeals
//       ──▶ costs (ideal_costs.h), plans
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/error.h"
#include "core/plan/operator_ranges.h"
#include "partitioner/model/graph/graph.h"
#include "partitioner/planning/search/ideals.h"

namespace pareto::search {

struct GraphIdeals {
  Ideals ideals;
  std::vector<plan::OperatorRanges>
      operators;  ///< operators of the model that are in the set, by position
};

/// Returns the groups of a graph as operators, without the values that stay inside one. Some
/// operators join the group that makes their input: those that read one value, which nothing else
/// reads, and make one as large (an activation, a flatten). A cut between the two would send as
/// much as one after them. Bytes are those of a message of `batch` samples. Fails: as
/// ValueSpec::size_bytes does.
Expected<DataFlow> data_flow(const model::Graph& graph, std::int64_t batch);

/// Finds the ideals of a graph, and the stages between them. Fails: as data_flow and find_ideals
/// do.
Expected<GraphIdeals> find_graph_ideals(const model::Graph& graph, std::int64_t batch,
                                        std::size_t most = 100'000);

/// Returns the sets alone, smaller ones first; the first is empty, the last has all operators.
/// Fails: as data_flow and find_ideal_sets do.
Expected<std::vector<plan::OperatorRanges>> find_graph_ideal_sets(const model::Graph& graph,
                                                                  std::size_t most = 100'000);

/// Returns the operators that a stage from one position to another runs.
plan::ShardOperators stage_operators(const GraphIdeals& ideals, int begin, int end);

}  // namespace pareto::search
