#include "partitioner/model/graph/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace pareto::model {
namespace {

using Arrows = std::vector<std::vector<std::int64_t>>;  ///< arrows from each operator to others

bool is_convolution(const std::string& kind) {
  return kind.starts_with("aten::conv") || kind.starts_with("aten::_convolution");
}

/// Returns whether it is a dropout that drops nothing before somebody trains the model.
bool is_idle_dropout(const Operator& op) {
  constexpr std::array<std::string_view, 4> kKinds{"aten::dropout", "aten::feature_dropout",
                                                   "aten::alpha_dropout",
                                                   "aten::feature_alpha_dropout"};
  return std::ranges::find(kKinds, op.kind) != kKinds.end() && op.inputs.size() == 1 &&
         !op.trains && !op.always_drops && !op.is_random;
}

Arrows reversed(const Arrows& arrows) {
  Arrows back(arrows.size());
  for (std::size_t from = 0; from < arrows.size(); ++from) {
    for (const std::int64_t to : arrows[from]) {
      back[static_cast<std::size_t>(to)].push_back(static_cast<std::int64_t>(from));
    }
  }
  return back;
}

/// Returns all that can be reached from `start` and has not been seen, those reached last first to
/// be done.
std::vector<std::int64_t> search_depth_first(const Arrows& arrows, std::int64_t start,
                                             std::vector<bool>& seen) {
  struct Step {
    std::int64_t at;
    std::size_t next = 0;
  };
  std::vector<std::int64_t> done;
  if (seen[static_cast<std::size_t>(start)]) return done;
  seen[static_cast<std::size_t>(start)] = true;
  std::vector<Step> way{{start}};
  while (!way.empty()) {
    Step& step = way.back();
    const auto& onward = arrows[static_cast<std::size_t>(step.at)];
    if (step.next == onward.size()) {
      done.push_back(step.at);
      way.pop_back();
      continue;
    }
    const std::int64_t to = onward[step.next++];
    if (seen[static_cast<std::size_t>(to)]) continue;
    seen[static_cast<std::size_t>(to)] = true;
    way.push_back({to});
  }
  return done;
}

}  // namespace

std::vector<std::pair<std::int64_t, std::int64_t>> folded_norms(const Graph& graph) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::size_t norm = 0; norm < graph.operators.size(); ++norm) {
    const Operator& op = graph.operators[norm];
    if (op.kind != "aten::batch_norm" || op.inputs.empty()) continue;
    const GraphValue& input = graph.values[static_cast<std::size_t>(op.inputs[0])];
    if (input.producer < 0 || input.users.size() != 1 || input.is_output) continue;
    if (!is_convolution(graph.operators[static_cast<std::size_t>(input.producer)].kind)) continue;
    pairs.emplace_back(input.producer, static_cast<std::int64_t>(norm));
  }
  return pairs;
}

std::vector<bool> joined_dropouts(const Graph& graph) {
  std::vector<bool> joined(graph.operators.size(), false);
  for (std::size_t i = 1; i < joined.size(); ++i) {
    const Operator& op = graph.operators[i];
    if (!is_idle_dropout(op)) continue;
    const GraphValue& input = graph.values[static_cast<std::size_t>(op.inputs[0])];
    joined[i] = input.producer == static_cast<std::int64_t>(i) - 1 && input.users.size() == 1 &&
                !input.is_output;
  }
  return joined;
}

Ties ties_of_pairs(const Graph& graph) {
  Ties ties;
  for (const auto& [convolution, norm] : folded_norms(graph)) {
    const Operator& op = graph.operators[static_cast<std::size_t>(norm)];
    ties.push_back({{convolution, norm},
                    fmt::format("between a convolution and its batch norm ({}), which every device "
                                "folds into one",
                                op.scope.empty() ? fmt::format("op {}", norm) : op.scope)});
  }
  const std::vector<bool> joined = joined_dropouts(graph);
  for (std::size_t i = 0; i < joined.size(); ++i) {
    if (!joined[i]) continue;
    const std::string& scope = graph.operators[i].scope;
    const auto dropout = static_cast<std::int64_t>(i);
    ties.push_back({{dropout - 1, dropout},
                    fmt::format("in front of a dropout ({}), which only matters in training: cut "
                                "behind it, at op:{}",
                                scope.empty() ? fmt::format("op {}", i) : scope, i + 1)});
  }
  return ties;
}

std::vector<std::vector<std::int64_t>> needed_by_each(const Graph& graph) {
  Arrows needed;
  for (const Operator& op : graph.operators) {
    std::vector<std::int64_t> before = op.after;
    for (const std::int64_t input : op.inputs) {
      const std::int64_t producer = graph.values[static_cast<std::size_t>(input)].producer;
      if (producer >= 0) before.push_back(producer);
    }
    std::ranges::sort(before);
    before.erase(std::unique(before.begin(), before.end()), before.end());
    needed.push_back(std::move(before));
  }
  return needed;
}

std::vector<std::vector<std::int64_t>> inseparable_groups(const Graph& graph, const Ties& ties) {
  // Tied operators need each other in a circle: groups are then the strongly connected components
  // (Kosaraju's way to find them, which gives them in a topological order).
  Arrows needs = needed_by_each(graph);
  const auto tie = [&](const std::vector<std::int64_t>& operators) {
    for (std::size_t i = 0; i < operators.size(); ++i) {
      const std::int64_t next = operators[(i + 1) % operators.size()];
      needs[static_cast<std::size_t>(operators[i])].push_back(next);
    }
  };
  for (const Tie& tied : ties) tie(tied.operators);
  for (const Tie& pair : ties_of_pairs(graph)) tie(pair.operators);

  std::vector<std::int64_t> done;
  std::vector<bool> seen(needs.size(), false);
  for (std::size_t i = 0; i < needs.size(); ++i) {
    const auto more = search_depth_first(needs, static_cast<std::int64_t>(i), seen);
    done.insert(done.end(), more.begin(), more.end());
  }
  // `done` begins with what needs nothing; components come out in this order where those are taken
  // first that nothing else leads to.
  std::vector<std::vector<std::int64_t>> groups;
  const Arrows feeds = reversed(needs);
  seen.assign(needs.size(), false);
  for (auto at = done.rbegin(); at != done.rend(); ++at) {
    auto group = search_depth_first(feeds, *at, seen);
    if (group.empty()) continue;
    std::ranges::sort(group);
    groups.push_back(std::move(group));
  }
  std::ranges::reverse(groups);
  return groups;
}

}  // namespace pareto::model
