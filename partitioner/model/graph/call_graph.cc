#include "partitioner/model/graph/call_graph.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace pareto::model {
namespace {

bool is_list_work(const Operator& op) {
  constexpr std::array<std::string_view, 5> kKinds{"prim::ListConstruct", "prim::ListUnpack",
                                                   "prim::TupleConstruct", "prim::TupleUnpack",
                                                   "prim::DictConstruct"};
  return std::ranges::find(kKinds, op.kind) != kKinds.end();
}

double static_cost(std::string_view kind) {
  if (kind.find("conv") != std::string_view::npos) return 6;
  return kind == "aten::linear" ? 3 : 1;
}

void make_set(std::vector<std::size_t>& numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

class CallGraphBuilder {
 public:
  explicit CallGraphBuilder(const Graph& graph)
      : graph_(graph), makers_(graph.values.size()), nodes_of_(graph.operators.size()) {}

  schedules::WeightedGraph run() {
    for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
      const Operator& op = graph_.operators[i];
      std::vector<std::size_t> after;
      for (const std::int64_t value : op.inputs) append(after, makers_, value);
      for (const std::int64_t before : op.after) append(after, nodes_of_, before);
      make_set(after);
      if (is_list_work(op)) {
        nodes_of_[i] = std::move(after);
      } else {
        nodes_of_[i] = {add_node(op.kind, op.scope, std::move(after))};
      }
      for (const std::int64_t value : op.outputs) {
        makers_[static_cast<std::size_t>(value)] = nodes_of_[i];
      }
    }
    return std::move(calls_);
  }

 private:
  static void append(std::vector<std::size_t>& to,
                     const std::vector<std::vector<std::size_t>>& from, std::int64_t index) {
    const auto& numbers = from[static_cast<std::size_t>(index)];
    to.insert(to.end(), numbers.begin(), numbers.end());
  }

  std::size_t add_node(const std::string& kind, const std::string& scope,
                       std::vector<std::size_t> after) {
    calls_.nodes.push_back(
        {.kind = kind, .scope = scope, .cost = static_cost(kind), .after = std::move(after)});
    return calls_.nodes.size() - 1;
  }

  const Graph& graph_;
  std::vector<std::vector<std::size_t>> makers_;    ///< nodes that a value comes from
  std::vector<std::vector<std::size_t>> nodes_of_;  ///< nodes that stand for an operator
  schedules::WeightedGraph calls_;
};

}  // namespace

schedules::WeightedGraph call_graph(const Graph& graph) { return CallGraphBuilder(graph).run(); }

}  // namespace pareto::model
