#include "partitioner/model/graph/split_points.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
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

/// A batch norm folds into the convolution before it, a dropout belongs to the operator before it.
void forbid_inside_pairs(const Graph& graph, std::vector<SplitPoint>& points) {
  for (const Tie& pair : ties_of_pairs(graph)) {
    const auto [first, second] = std::pair(pair.operators.front(), pair.operators.back());
    for (std::int64_t position = first + 1; position <= second; ++position) {
      SplitPoint& point = points[static_cast<std::size_t>(position - 1)];
      if (!point.legal) continue;
      point.legal = false;
      point.reason = pair.why;
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

/// Where modules end. A module ends behind the dropouts that belong to its last operator.
class ModuleEnds {
 public:
  explicit ModuleEnds(const Graph& graph) : joined_(joined_dropouts(graph)) {
    // The dropouts' own paths come last: they name a place that has names already.
    for (const bool of_dropouts : {false, true}) {
      for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        if (joined_[i] == of_dropouts) add(path_prefixes(graph.operators[i].scope), i, of_dropouts);
      }
    }
  }

  /// Returns the last operator at or under a path, dropouts behind it included.
  std::size_t end_of(const std::string& path) const { return ends_.at(path); }
  /// Returns the modules that end at an operator: outer ones first, dropouts last.
  std::vector<std::string> at(const Graph& graph, std::size_t op) const {
    std::vector<std::string> found;
    std::size_t first = op;
    while (joined_[first]) --first;
    for (std::size_t i = first; i <= op; ++i) {
      for (std::string& path : path_prefixes(graph.operators[i].scope)) {
        const bool is_new = std::ranges::find(found, path) == found.end();
        if (is_new && ends_.at(path) == op) found.push_back(std::move(path));
      }
    }
    return found;
  }

 private:
  void add(std::vector<std::string> paths, std::size_t op, bool is_dropout) {
    std::size_t end = op;
    while (end + 1 < joined_.size() && joined_[end + 1]) ++end;
    for (std::string& path : paths) {
      if (is_dropout) {
        // A module that has more than dropouts ends with the rest of it.
        if (const auto known = ends_.find(path);
            known != ends_.end() && !of_dropouts_.contains(path))
          continue;
        of_dropouts_.insert(path);
      }
      ends_[std::move(path)] = end;
    }
  }

  std::vector<bool> joined_;
  std::unordered_map<std::string, std::size_t> ends_;
  std::unordered_set<std::string> of_dropouts_;  ///< paths that hold nothing else
};

void add_names(const Graph& graph, std::vector<SplitPoint>& points) {
  const ModuleEnds ends(graph);
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (const std::string& path : ends.at(graph, i)) points[i].names.push_back("after:" + path);
    points[i].names.push_back("op:" + std::to_string(points[i].position));
    points[i].name = points[i].names.front();
  }
  for (const std::string& path : outer_modules(graph)) {
    const std::size_t end = ends.end_of(path);
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
  forbid_inside_pairs(graph, points);
  add_costs(graph, points);
  add_names(graph, points);
  return points;
}

std::vector<std::int64_t> live_values(const Graph& graph, std::int64_t position) {
  return live_values(graph, operators_before(position));
}

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

std::vector<plan::BoundaryValue> boundary(const Graph& graph, std::int64_t position) {
  return boundary(graph, operators_before(position));
}

Expected<std::uint64_t> boundary_bytes(const Graph& graph, std::int64_t position,
                                       std::int64_t batch) {
  return boundary_bytes(graph, operators_before(position), batch);
}

}  // namespace pareto::model
