#include "coordinator/tasks/model_stages.h"

#include <algorithm>

#include "partitioner/planning/tasks/stage_partition.h"

namespace pareto::tasks {
namespace {

std::uint64_t bytes_of(const model::Graph& graph, const std::vector<std::int64_t>& values,
                       std::int64_t batch) {
  std::uint64_t sum = 0;
  for (const std::int64_t value : values) {
    sum += graph.values[static_cast<std::size_t>(value)].spec.size_bytes(batch).value_or(0);
  }
  return sum;
}

}  // namespace

Expected<std::vector<LayerCost>> layer_costs(const model::Model& model, std::int64_t batch,
                                             runtime::ShardRunner& runner, int repeats) {
  constexpr std::uint64_t kSeed = 1;
  PARETO_ASSIGN(auto inputs, model.example_inputs(batch, kSeed));
  PARETO_ASSIGN(const runtime::ShardProfile profile,
                runner.profile(std::move(inputs), repeats, {}));
  const model::Graph& graph = model.graph();
  std::vector<LayerCost> layers(graph.operators.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const model::Operator& op = graph.operators[i];
    LayerCost& layer = layers[i];
    layer.name = op.scope.empty() ? op.kind : op.scope;
    layer.kind = op.kind;
    layer.position = static_cast<std::int64_t>(i);
    layer.flops = op.flops_per_sample * static_cast<double>(batch);
    for (const std::int64_t weight : op.weights) {
      layer.weight_bytes += graph.weights[static_cast<std::size_t>(weight)].size_bytes;
    }
    layer.output_bytes = bytes_of(graph, op.outputs, batch);
    layer.bytes = bytes_of(graph, op.inputs, batch) + layer.weight_bytes + layer.output_bytes;
  }
  for (const runtime::OperatorTime& op : profile.operators) {
    if (op.position < 0 || op.position >= std::ssize(layers)) continue;
    layers[static_cast<std::size_t>(op.position)].time += op.median;
  }
  return layers;
}

Expected<std::vector<StageRange>> cut_into_stages(const model::Model& model,
                                                  const std::vector<LayerCost>& layers,
                                                  const CostMetric& metric, std::size_t stages) {
  PARETO_ASSIGN(const std::vector<double> costs, metric.costs_of(layers));
  // Segments between neighbouring cuts.
  std::vector<StageRange> segments;
  const auto cuts = model::select_split_points(model.split_points(), "auto");
  for (const std::size_t cut : cuts.value_or(std::vector<std::size_t>())) {
    const model::SplitPoint& point = model.split_points()[cut];
    segments.push_back({segments.empty() ? 0 : segments.back().end, point.position, point.name});
  }
  segments.push_back({segments.empty() ? 0 : segments.back().end, std::ssize(layers), ""});
  std::vector<double> segment_costs;
  for (const StageRange& segment : segments) {
    double sum = 0;
    for (std::int64_t i = segment.begin; i < segment.end; ++i) {
      sum += costs[static_cast<std::size_t>(i)];
    }
    segment_costs.push_back(sum);
  }
  std::vector<StageRange> ranges;
  for (const std::size_t end : partition_stages(segment_costs, stages).ends) {
    const StageRange& last = segments[end - 1];
    ranges.push_back({ranges.empty() ? 0 : ranges.back().end, last.end, last.name});
  }
  return ranges;
}

}  // namespace pareto::tasks
