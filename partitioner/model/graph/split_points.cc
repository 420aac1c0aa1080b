#include "partitioner/model/graph/split_points.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "partitioner/model/graph/cuts.h"
#include "partitioner/model/graph/groups.h"
#include "partitioner/model/graph/module_ends.h"

namespace pareto::model {
namespace {

const GraphValue& value_at(const Graph& graph, std::int64_t index) {
  return graph.values[static_cast<std::size_t>(index)];
}

std::int64_t operator_count(const Graph& graph) {
  return static_cast<std::int64_t>(graph.operators.size());
}

/// Returns the last position at which a value is still needed: it crosses every position after its
/// producer up to this one.
std::int64_t last_crossing(const Graph& graph, const GraphValue& value) {
  if (value.is_output) return operator_count(graph);
  return value.users.empty() ? value.producer : value.users.back();
}

std::int64_t tensors_among(const Graph& graph, const std::vector<std::int64_t>& values) {
  std::size_t count = 0;
  for (const std::int64_t index : values) count += tensors_of(value_at(graph, index).spec).size();
  return static_cast<std::int64_t>(count);
}

plan::OperatorRanges operators_before(std::int64_t position) {
  return position > 0 ? plan::OperatorRanges{{0, position}} : plan::OperatorRanges{};
}

/// Returns the values that cross each position 0 … operators, ascending.
std::vector<std::vector<std::int64_t>> live_everywhere(const Graph& graph) {
  std::vector<std::vector<std::int64_t>> live(graph.operators.size() + 1);
  for (std::size_t index = 0; index < graph.values.size(); ++index) {
    const GraphValue& value = graph.values[index];
    const std::int64_t last = last_crossing(graph, value);
    for (std::int64_t position = value.producer + 1; position <= last; ++position) {
      live[static_cast<std::size_t>(position)].push_back(static_cast<std::int64_t>(index));
    }
  }
  return live;
}

/// A batch norm folds into the convolution before it, where nothing else reads that one's result.
void forbid_between_convolution_and_norm(const Graph& graph, std::vector<SplitPoint>& points) {
  for (const Tie& folded : ties_of_folded_norms(graph)) {
    const auto [convolution, norm] = std::pair(folded.operators.front(), folded.operators.back());
    for (std::int64_t position = convolution + 1; position <= norm; ++position) {
      SplitPoint& point = points[static_cast<std::size_t>(position - 1)];
      if (!point.legal) continue;
      point.legal = false;
      point.reason = folded.why;
    }
  }
}

/// Costs before and after every position, in one pass from each side.
void add_costs(const Graph& graph, std::vector<SplitPoint>& points) {
  const auto bytes_of = [&](const Operator& op, std::vector<bool>& seen) {
    std::uint64_t bytes = 0;
    for (const std::int64_t weight : op.weights) {
      if (seen[static_cast<std::size_t>(weight)]) continue;
      seen[static_cast<std::size_t>(weight)] = true;
      bytes += graph.weights[static_cast<std::size_t>(weight)].size_bytes;
    }
    return bytes;
  };
  double flops = 0;
  std::uint64_t bytes = 0;
  std::vector<bool> seen(graph.weights.size(), false);
  for (std::size_t i = 0; i < points.size(); ++i) {
    flops += graph.operators[i].flops_per_sample;
    bytes += bytes_of(graph.operators[i], seen);
    points[i].flops_before = flops;
    points[i].weight_bytes_before = bytes;
  }
  flops = 0;
  bytes = 0;
  seen.assign(graph.weights.size(), false);
  for (std::size_t i = points.size(); i > 0; --i) {
    flops += graph.operators[i].flops_per_sample;
    bytes += bytes_of(graph.operators[i], seen);
    points[i - 1].flops_after = flops;
    points[i - 1].weight_bytes_after = bytes;
  }
}

void add_names(const Graph& graph, std::vector<SplitPoint>& points) {
  std::unordered_map<std::string, std::size_t> last;  // operator index at or under a path
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    for (std::string& path : path_prefixes(graph.operators[i].scope)) last[std::move(path)] = i;
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (const std::string& path : path_prefixes(graph.operators[i].scope)) {
      if (last.at(path) == i) points[i].names.push_back("after:" + path);
    }
    points[i].names.push_back("op:" + std::to_string(points[i].position));
    points[i].name = points[i].names.front();
  }
  for (const std::string& path : outer_modules(graph)) {
    const std::size_t end = last.at(path);
    if (end < points.size()) points[end].is_module_end = true;
  }
}

}  // namespace

std::vector<SplitPoint> find_split_points(const Graph& graph,
                                          const std::vector<std::string>& illegal) {
  std::vector<SplitPoint> points;
  auto live = live_everywhere(graph);
  for (std::int64_t position = 1; position < operator_count(graph); ++position) {
    const auto at = static_cast<std::size_t>(position);
    SplitPoint point;
    point.position = position;
    point.live = std::move(live[at]);
    point.tensors = tensors_among(graph, point.live);
    if (at < illegal.size() && !illegal[at].empty()) {
      point.legal = false;
      point.reason = illegal[at];
    }
    points.push_back(std::move(point));
  }
  forbid_between_convolution_and_norm(graph, points);
  add_costs(graph, points);
  add_names(graph, points);
  return points;
}

std::vector<std::int64_t> live_values(const Graph& graph, std::int64_t position) {
  return live_values(graph, operators_before(position));
}

std::vector<plan::BoundaryValue> boundary(const Graph& graph, std::int64_t position) {
  return boundary(graph, operators_before(position));
}

Expected<std::uint64_t> boundary_bytes(const Graph& graph, std::int64_t position,
                                       std::int64_t batch) {
  return boundary_bytes(graph, operators_before(position), batch);
}

}  // namespace pareto::model
