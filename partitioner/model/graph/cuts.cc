#include "partitioner/model/graph/cuts.h"

#include <algorithm>

#include "partitioner/model/graph/groups.h"

namespace pareto::model {
namespace {

const GraphValue& value_at(const Graph& graph, std::int64_t index) {
  return graph.values[static_cast<std::size_t>(index)];
}

bool is_everything(const Graph& graph, const plan::OperatorRanges& before) {
  return before.size() == 1 && before.front().begin <= 0 &&
         before.front().end >= static_cast<std::int64_t>(graph.operators.size());
}

std::string named(const Graph& graph, std::int64_t op) {
  const Operator& at = graph.operators[static_cast<std::size_t>(op)];
  return fmt::format("operator {} ({}{}{})", op, at.kind, at.scope.empty() ? "" : " in ", at.scope);
}

/// Returns what an operator needs of another one: a value, or its turn behind it.
std::string need_of(const Graph& graph, std::int64_t op, std::int64_t other) {
  for (const std::int64_t input : graph.operators[static_cast<std::size_t>(op)].inputs) {
    const GraphValue& value = value_at(graph, input);
    if (value.producer == other)
      return fmt::format("value {} ({})", value.name, value.spec.describe());
  }
  return "both touch memory that one of them writes, or have hidden state";
}

/// Returns why two operators of one group stay together.
std::string why_together(const Graph& graph, const plan::OperatorRanges& before) {
  const auto parted = std::ranges::find_if(graph.ties, [&](const Tie& tie) {
    return std::ranges::any_of(tie.operators, [&](std::int64_t op) {
      return plan::holds(before, op) != plan::holds(before, tie.operators.front());
    });
  });
  return parted == graph.ties.end() || parted->why.empty() ? "" : ": " + parted->why;
}

}  // namespace

std::vector<std::int64_t> live_values(const Graph& graph, const plan::OperatorRanges& before) {
  if (before.empty()) return graph.inputs;
  if (is_everything(graph, before)) return graph.outputs;
  const std::int64_t prefix = before.front().begin == 0 ? before.front().end : 0;
  std::vector<std::int64_t> live;
  for (std::size_t index = 0; index < graph.values.size(); ++index) {
    const GraphValue& value = graph.values[index];
    if (value.producer >= prefix && !plan::holds(before, value.producer)) continue;
    const bool wanted = value.is_output || std::ranges::any_of(value.users, [&](std::int64_t user) {
                          return user >= prefix && !plan::holds(before, user);
                        });
    if (wanted) live.push_back(static_cast<std::int64_t>(index));
  }
  return live;
}

std::vector<plan::BoundaryValue> boundary(const Graph& graph, const plan::OperatorRanges& before) {
  std::vector<plan::BoundaryValue> values;
  for (const std::int64_t index : live_values(graph, before)) {
    const GraphValue& value = value_at(graph, index);
    values.push_back({value.name, value.spec});
    if (before.empty() || is_everything(graph, before)) continue;
    for (std::size_t i = 0; i < value.layout.order.size(); ++i) {
      values.back().spec.tensor.dims[i] =
          value.spec.tensor.dims[static_cast<std::size_t>(value.layout.order[i])];
    }
  }
  return values;
}

Expected<std::uint64_t> boundary_bytes(const Graph& graph, const plan::OperatorRanges& before,
                                       std::int64_t batch) {
  std::uint64_t bytes = 0;
  for (const std::int64_t index : live_values(graph, before)) {
    PARETO_ASSIGN(const std::uint64_t one, value_at(graph, index).spec.size_bytes(batch));
    bytes += one;
  }
  return bytes;
}

Expected<> check_cut(const Graph& graph, const plan::OperatorRanges& before) {
  const auto operators = static_cast<std::int64_t>(graph.operators.size());
  for (const plan::OperatorRange& range : before) {
    if (range.begin < 0 || range.begin >= range.end || range.end > operators) {
      return fail(ErrorCode::kInvalidArgument, "operators [{}, {}) of a model that has {}",
                  range.begin, range.end, operators);
    }
  }
  const auto needed = needed_by_each(graph);
  for (const std::int64_t op : operators_in(before)) {
    for (const std::int64_t other : needed[static_cast<std::size_t>(op)]) {
      if (plan::holds(before, other)) continue;
      return fail(ErrorCode::kInvalidArgument, "{} runs before {}, which it needs: {}",
                  named(graph, op), named(graph, other), need_of(graph, op, other));
    }
  }
  for (const auto& group : graph.groups) {
    const auto odd = std::ranges::find_if(group, [&](std::int64_t op) {
      return plan::holds(before, op) != plan::holds(before, group.front());
    });
    if (odd == group.end()) continue;
    return fail(ErrorCode::kInvalidArgument, "{} and {} may not be parted{}",
                named(graph, group.front()), named(graph, *odd), why_together(graph, before));
  }
  return {};
}

std::string cut_name(const plan::OperatorRanges& before) {
  std::string name = "op";
  for (const plan::OperatorRange& range : before) {
    name += range.begin == 0 ? fmt::format(":{}", range.end)
                             : fmt::format(":{}-{}", range.begin, range.end);
  }
  return name;
}

}  // namespace pareto::model
