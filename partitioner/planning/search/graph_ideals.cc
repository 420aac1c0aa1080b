#include "partitioner/planning/search/graph_ideals.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace pareto::search {
namespace {

using Groups = std::vector<std::vector<std::int64_t>>;

/// Returns the group of each operator of the graph.
std::vector<int> group_by_operator(const model::Graph& graph, const Groups& groups) {
  std::vector<int> of(graph.operators.size(), 0);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const std::int64_t op : groups[i]) of[static_cast<std::size_t>(op)] = static_cast<int>(i);
  }
  return of;
}

/// Returns the one value that an operator reads, where nothing else reads it and what it makes of
/// it is as large: a cut before the operator would send as much as one after it, and engines fuse
/// the two. Null: it has another way with values.
const model::GraphValue* followed(const model::Graph& graph, const model::Operator& op) {
  if (op.inputs.size() != 1 || op.outputs.size() != 1 || !op.weights.empty() || !op.after.empty()) {
    return nullptr;
  }
  const model::GraphValue& read = graph.values[static_cast<std::size_t>(op.inputs.front())];
  const model::GraphValue& made = graph.values[static_cast<std::size_t>(op.outputs.front())];
  if (read.producer < 0 || read.is_output || read.users.size() != 1) return nullptr;
  const auto before = read.spec.size_bytes(1);
  const auto after = made.spec.size_bytes(1);
  return before && after && *before == *after && *before > 0 ? &read : nullptr;
}

/// Returns the operator that a whole group follows, in a chain; no value if it does not.
std::optional<std::int64_t> leader_of(const model::Graph& graph,
                                      const std::vector<std::int64_t>& group) {
  std::optional<std::int64_t> leader;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const auto op = static_cast<std::size_t>(group[i]);
    const model::GraphValue* const read = followed(graph, graph.operators[op]);
    if (read == nullptr || (i > 0 && read->producer != group[i - 1])) return std::nullopt;
    if (i == 0) leader = read->producer;
  }
  return leader;
}

/// Groups operators that may not be parted, and those that need not be: followers go with what they
/// follow. Those have one way in, so that the groups keep a topological order.
Groups groups_of(const model::Graph& graph) {
  Groups groups = graph.groups;
  if (groups.empty()) {
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
      groups.push_back({static_cast<std::int64_t>(i)});
    }
  }
  std::vector<int> of = group_by_operator(graph, groups);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto followed_op = leader_of(graph, groups[i]);
    if (!followed_op) continue;
    const int leader = of[static_cast<std::size_t>(*followed_op)];
    std::vector<std::int64_t>& leading = groups[static_cast<std::size_t>(leader)];
    leading.insert(leading.end(), groups[i].begin(), groups[i].end());
    for (const std::int64_t op : groups[i]) of[static_cast<std::size_t>(op)] = leader;
    groups[i].clear();
  }
  std::erase_if(groups, [](const auto& group) { return group.empty(); });
  for (auto& group : groups) std::ranges::sort(group);
  return groups;
}

Expected<std::int64_t> bytes_of(const model::Graph& graph, const std::vector<std::int64_t>& values,
                                std::int64_t batch) {
  std::uint64_t bytes = 0;
  for (const std::int64_t index : values) {
    PARETO_ASSIGN(const std::uint64_t one,
                  graph.values[static_cast<std::size_t>(index)].spec.size_bytes(batch));
    bytes += one;
  }
  return static_cast<std::int64_t>(bytes);
}

plan::OperatorRanges operators_of(const Groups& groups, const std::vector<bool>& set) {
  std::vector<std::int64_t> operators;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (set[i]) operators.insert(operators.end(), groups[i].begin(), groups[i].end());
  }
  std::ranges::sort(operators);
  return plan::ranges_of(operators);
}

}  // namespace

Expected<DataFlow> data_flow(const model::Graph& graph, std::int64_t batch) {
  const Groups groups = groups_of(graph);
  const std::vector<int> group = group_by_operator(graph, groups);
  DataFlow flow;
  flow.operators = static_cast<int>(groups.size());
  for (const model::GraphValue& value : graph.values) {
    DataFlow::Value flowing;
    flowing.is_output = value.is_output;
    if (value.producer >= 0) flowing.producer = group[static_cast<std::size_t>(value.producer)];
    for (const std::int64_t user : value.users) {
      const int reader = group[static_cast<std::size_t>(user)];
      if (reader != flowing.producer) flowing.readers.push_back(reader);
    }
    std::ranges::sort(flowing.readers);
    flowing.readers.erase(std::unique(flowing.readers.begin(), flowing.readers.end()),
                          flowing.readers.end());
    if (flowing.readers.empty() && !flowing.is_output) continue;
    PARETO_ASSIGN(const std::uint64_t bytes, value.spec.size_bytes(batch));
    flowing.bytes = static_cast<std::int64_t>(bytes);
    flow.values.push_back(std::move(flowing));
  }
  for (std::size_t op = 0; op < graph.operators.size(); ++op) {
    for (const std::int64_t before : graph.operators[op].after) {
      const int first = group[static_cast<std::size_t>(before)];
      if (first != group[op]) flow.values.push_back({first, {group[op]}, 0, false});
    }
  }
  return flow;
}

Expected<GraphIdeals> find_graph_ideals(const model::Graph& graph, std::int64_t batch,
                                        std::size_t most) {
  PARETO_ASSIGN(const DataFlow flow, data_flow(graph, batch));
  GraphIdeals found;
  PARETO_ASSIGN(found.ideals, find_ideals(flow, most));
  // The source sends every input, read or not; the sink gets each result as often as the model
  // returns it.
  PARETO_ASSIGN(found.ideals.boundary_bytes.front(), bytes_of(graph, graph.inputs, batch));
  PARETO_ASSIGN(found.ideals.boundary_bytes.back(), bytes_of(graph, graph.outputs, batch));
  const Groups groups = groups_of(graph);
  for (const auto& set : found.ideals.sets) found.operators.push_back(operators_of(groups, set));
  return found;
}

Expected<std::vector<plan::OperatorRanges>> find_graph_ideal_sets(const model::Graph& graph,
                                                                  std::size_t most) {
  PARETO_ASSIGN(const DataFlow flow, data_flow(graph, 1));
  PARETO_ASSIGN(const auto sets, find_ideal_sets(flow, most));
  const Groups groups = groups_of(graph);
  std::vector<plan::OperatorRanges> all;
  for (const std::vector<bool>& set : sets) all.push_back(operators_of(groups, set));
  return all;
}

plan::ShardOperators stage_operators(const GraphIdeals& ideals, int begin, int end) {
  plan::ShardOperators stage;
  stage.before = ideals.operators[static_cast<std::size_t>(begin)];
  std::vector<std::int64_t> own = operators_in(ideals.operators[static_cast<std::size_t>(end)]);
  std::erase_if(own, [&](std::int64_t op) { return plan::holds(stage.before, op); });
  stage.own = plan::ranges_of(own);
  return stage;
}

}  // namespace pareto::search
