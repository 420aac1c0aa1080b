#include "partitioner/planning/frontiers/cut_figures.h"

#include <algorithm>

#include "core/plan/training.h"
#include "partitioner/model/graph/cuts.h"

namespace pareto::planning {
namespace {

std::int64_t elements_of(const model::GraphWeight& weight) {
  std::int64_t count = 1;
  for (const std::int64_t size : weight.shape) count *= size;
  return count;
}

/// Adds up the operators for which `before` says so.
SideFigures side_of(const model::Graph& graph, const plan::OperatorRanges& before, bool wanted) {
  SideFigures side;
  std::vector<bool> seen(graph.weights.size(), false);
  for (std::size_t op = 0; op < graph.operators.size(); ++op) {
    if (plan::holds(before, static_cast<std::int64_t>(op)) != wanted) continue;
    side.flops += graph.operators[op].flops_per_sample;
    for (const std::int64_t index : graph.operators[op].weights) {
      const auto at = static_cast<std::size_t>(index);
      if (seen[at]) continue;
      seen[at] = true;
      const model::GraphWeight& weight = graph.weights[at];
      side.weight_bytes += weight.size_bytes;
      if (weight.is_parameter) side.parameters += elements_of(weight);
      if (weight.is_trainable) side.trainable += elements_of(weight);
    }
  }
  return side;
}

}  // namespace

Expected<CutFigures> figures_of(const model::Graph& graph, const plan::OperatorRanges& before,
                                std::int64_t batch) {
  CutFigures figures;
  figures.live = model::live_values(graph, before);
  PARETO_ASSIGN(figures.bytes, model::boundary_bytes(graph, before, batch));
  figures.before = side_of(graph, before, true);
  figures.after = side_of(graph, before, false);
  return figures;
}

bool has_trainable_suffix(const model::Graph& graph, const plan::OperatorRanges& before,
                          const std::vector<std::string>& frozen) {
  for (std::size_t op = 0; op < graph.operators.size(); ++op) {
    if (plan::holds(before, static_cast<std::int64_t>(op))) continue;
    const bool trains = std::ranges::any_of(graph.operators[op].weights, [&](std::int64_t index) {
      const model::GraphWeight& weight = graph.weights[static_cast<std::size_t>(index)];
      return weight.is_trainable && !plan::is_frozen(frozen, weight.name);
    });
    if (trains) return true;
  }
  return false;
}

}  // namespace pareto::planning
