#include "partitioner/planning/inputs/profiled_parts.h"

#include <numeric>

namespace pareto::planning {

std::vector<ProfiledSegment> profiled_segments(const plan::DeviceProfile& profile,
                                               const std::vector<std::int64_t>& positions,
                                               const CostInputs& inputs, std::size_t device) {
  const DeviceCosts& costs = inputs.devices[device];
  std::vector<ProfiledSegment> segments;
  for (int end = 1; end <= inputs.positions(); ++end) {
    const int begin = end - 1;
    ProfiledSegment& segment = segments.emplace_back();
    segment.begin = positions[static_cast<std::size_t>(begin)];
    segment.end = positions[static_cast<std::size_t>(end)];
    if (has_room(inputs, costs, begin, end)) {
      segment.alone = costs.time(begin, end);
      segment.busy = costs.when_busy().time(begin, end);
    }
    segment.plain = std::accumulate(profile.operators.begin() + segment.begin,
                                    profile.operators.begin() + segment.end, Nanoseconds{});
    segment.memory_bytes = stage_memory_bytes(costs, begin, end);
    segment.output_bytes = inputs.boundary(end);
  }
  return segments;
}

Expected<std::vector<ProfiledOperator>> profiled_operators(const model::Graph& graph,
                                                           std::int64_t batch) {
  std::vector<ProfiledOperator> operators;
  for (const model::Operator& op : graph.operators) {
    ProfiledOperator& one = operators.emplace_back();
    one.kind = op.kind;
    one.scope = op.scope;
    for (const std::int64_t weight : op.weights) {
      one.weight_bytes += graph.weights[static_cast<std::size_t>(weight)].size_bytes;
    }
    for (const std::int64_t output : op.outputs) {
      PARETO_ASSIGN(const std::uint64_t bytes,
                    graph.values[static_cast<std::size_t>(output)].spec.size_bytes(batch));
      one.output_bytes += bytes;
    }
  }
  return operators;
}

}  // namespace pareto::planning
