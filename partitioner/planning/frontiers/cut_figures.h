// Figures of a cut, as people compare cuts by: what crosses it, and the work on either side.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/error.h"
#include "core/plan/operator_ranges.h"
#include "partitioner/model/graph/graph.h"

namespace pareto::planning {

/// Figures of one side of a cut. A weight that is used on both sides counts on both.
struct SideFigures {
  double flops = 0;                ///< FLOPs of one sample; multiply and add count as two
  std::uint64_t weight_bytes = 0;  ///< parameters and buffers
  std::int64_t parameters = 0;     ///< elements of parameters
  std::int64_t trainable = 0;      ///< elements of parameters that are not frozen
};

struct CutFigures {
  std::vector<std::int64_t> live;  ///< values that cross, as indices into Graph::values, ascending
  std::uint64_t bytes = 0;         ///< bytes that cross at the batch
  SideFigures before;
  SideFigures after;
};

/// Returns the figures of a cut that is allowed. Fails: as ValueSpec::size_bytes.
Expected<CutFigures> figures_of(const model::Graph& graph, const plan::OperatorRanges& before,
                                std::int64_t batch);
/// Returns whether parameters lie behind a cut that neither the model nor `frozen` (module paths)
/// freezes: training then has something to do there.
bool has_trainable_suffix(const model::Graph& graph, const plan::OperatorRanges& before,
                          const std::vector<std::string>& frozen = {});

}  // namespace pareto::planning
