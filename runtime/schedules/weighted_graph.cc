#include "runtime/schedules/weighted_graph.h"

#include <cmath>

namespace pareto::schedules {

std::vector<std::vector<std::size_t>> users_of(const WeightedGraph& graph) {
  std::vector<std::vector<std::size_t>> users(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::size_t before : graph.nodes[i].after) users[before].push_back(i);
  }
  return users;
}

std::string operator_name(const WeightedGraph& graph, std::size_t number) {
  if (number >= graph.nodes.size()) return fmt::format("operator {}", number);
  const WeightedNode& node = graph.nodes[number];
  return fmt::format("operator {} ({}{}{})", number, node.kind, node.scope.empty() ? "" : ", ",
                     node.scope);
}

Expected<> check(const WeightedGraph& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const WeightedNode& node = graph.nodes[i];
    for (const double cost : {node.cost, node.cost_all}) {
      if (!std::isfinite(cost) || cost < 0) {
        return fail(ErrorCode::kInvalidArgument, "{} has the cost {}; costs are at least 0",
                    operator_name(graph, i), cost);
      }
    }
    for (std::size_t k = 0; k < node.after.size(); ++k) {
      if (node.after[k] >= i) {
        return fail(ErrorCode::kInvalidArgument, "{} waits for {}, which is not before it",
                    operator_name(graph, i), operator_name(graph, node.after[k]));
      }
      if (k > 0 && node.after[k] <= node.after[k - 1]) {
        return fail(ErrorCode::kInvalidArgument,
                    "{} waits for operators {} and {}; their numbers must ascend",
                    operator_name(graph, i), node.after[k - 1], node.after[k]);
      }
    }
  }
  return {};
}

}  // namespace pareto::schedules
