#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/common_subexpression_elimination.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/lower_tuples.h>
#include <torch/csrc/jit/passes/peephole.h>
#include <torch/csrc/jit/passes/remove_mutation.h>
#include <torch/csrc/jit/passes/shape_analysis.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "partitioner/model/graph/flat_graph.h"
#include "partitioner/model/graph/flatten.h"

namespace pareto::model {
namespace {

using torch::jit::Node;

constexpr int kLeastRounds = 3;
constexpr int kMostRounds = 8;

/// Returns how many nodes a graph has, those in blocks included.
std::size_t size_of(torch::jit::Graph& graph) {
  std::size_t size = 0;
  for_each_node(graph.block(), [&](const Node*) { ++size; });
  return size;
}

void fold(std::shared_ptr<torch::jit::Graph>& graph) {
  torch::jit::ConstantPropagation(graph);
  remove_checks(*graph);
  unroll_loops(graph);
  torch::jit::RemoveListMutation(graph);
  torch::jit::LowerSimpleTuples(graph);
  scatter_objects(*graph);
  read_dicts(*graph);
  torch::jit::PeepholeOptimize(graph);
  torch::jit::EliminateCommonSubexpression(graph);
  torch::jit::EliminateDeadCode(graph);
}

/// A stage has nobody to warn.
void remove_warnings(torch::jit::Graph& graph) {
  std::vector<Node*> warnings;
  for_each_node(graph.block(), [&](Node* node) {
    if (node->kind() == c10::aten::warn) warnings.push_back(node);
  });
  for (Node* node : warnings) node->destroy();
}

/// Returns the first node of the top block that uses a value, itself or inside its blocks; null
/// where none does.
Node* first_user(const torch::jit::Value* value, torch::jit::Block* top) {
  Node* first = nullptr;
  for (const torch::jit::Use& use : value->uses()) {
    Node* user = use.user;
    while (user->owningBlock() != top) user = user->owningBlock()->owningNode();
    if (first == nullptr || user->isBefore(first)) first = user;
  }
  return first;
}

/// Returns the nodes that fill a dict before anybody looks at it: `dict[key] = value` in the top
/// block, each key a constant of its own. No value means that it cannot be told.
std::optional<std::vector<Node*>> fillings_of(const torch::jit::Value* dict, const Node* reader,
                                              torch::jit::Block* top) {
  std::vector<Node*> fillings;
  std::vector<c10::IValue> keys;
  const auto is_new = [&](const torch::jit::Value* key) {
    const auto known = torch::jit::toIValue(key);
    if (!known || std::ranges::any_of(keys, [&](const c10::IValue& k) { return k == *known; })) {
      return false;
    }
    keys.push_back(*known);
    return true;
  };
  const Node* maker = dict->node();
  for (std::size_t i = 0; i < maker->inputs().size(); i += 2) {
    if (!is_new(maker->input(i))) return std::nullopt;
  }
  for (const torch::jit::Use& use : dict->uses()) {
    if (use.user->kind() != c10::aten::_set_item || use.offset != 0) continue;
    const bool before = use.user->owningBlock() == top && use.user->isBefore(reader);
    if (!before || !is_new(use.user->input(1))) return std::nullopt;
    fillings.push_back(use.user);
  }
  std::ranges::sort(fillings, [](const Node* a, const Node* b) { return a->isBefore(b); });
  return fillings;
}

/// Takes away a dict that is filled and never read.
void drop_dict(Node* maker) {
  std::vector<Node*> fillings;
  for (const torch::jit::Use& use : maker->output()->uses()) fillings.push_back(use.user);
  for (Node* filling : fillings) filling->destroy();
  maker->destroy();
}

/// Makes a dict that is filled entry by entry at once, before its first reader: until then its
/// values cross for themselves.
void gather_dicts(torch::jit::Graph& graph) {
  std::vector<Node*> makers = operators_of(graph);
  std::erase_if(makers, [](Node* node) { return node->kind() != c10::prim::DictConstruct; });
  for (Node* node : makers) {
    Node* reader = nullptr;
    for (const torch::jit::Use& use : node->output()->uses()) {
      if (use.user->kind() == c10::aten::_set_item && use.offset == 0) continue;
      Node* user = use.user;
      while (user->owningBlock() != graph.block()) user = user->owningBlock()->owningNode();
      if (reader == nullptr || user->isBefore(reader)) reader = user;
    }
    if (reader == nullptr) {
      drop_dict(node);
      continue;
    }
    const auto fillings = fillings_of(node->output(), reader, graph.block());
    if (!fillings || fillings->empty()) continue;
    for (Node* filling : *fillings) {
      node->addInput(filling->input(1));
      node->addInput(filling->input(2));
      filling->destroy();
    }
    node->moveBefore(reader);
  }
}

/// A list or tuple made early would cross every split point up to its use in place of its items.
/// Making it later is always the same: its items are values, and nobody can have changed it before
/// its first user.
void sink_containers(torch::jit::Graph& graph) {
  const auto nodes = operators_of(graph);
  for (auto at = nodes.rbegin(); at != nodes.rend(); ++at) {
    Node* node = *at;
    if (node->kind() != c10::prim::ListConstruct && node->kind() != c10::prim::TupleConstruct &&
        node->kind() != c10::prim::DictConstruct) {
      continue;
    }
    Node* user = first_user(node->output(), graph.block());
    if (user != nullptr && user != graph.return_node()) node->moveBefore(user);
  }
}

void tidy(std::shared_ptr<torch::jit::Graph>& graph) {
  gather_dicts(*graph);
  fold(graph);
  sink_containers(*graph);
}

}  // namespace

void simplify(std::shared_ptr<torch::jit::Graph>& graph) {
  // Shapes noted by a tracer would be folded into constants that hold for the traced batch only.
  torch::jit::EraseShapeInformation(graph);
  remove_warnings(*graph);
  // What one round finds out is what the next one can unroll or read.
  std::size_t before = 0;
  std::size_t after = size_of(*graph);
  for (int round = 0; round < kMostRounds && (round < kLeastRounds || before != after); ++round) {
    before = after;
    fold(graph);
    after = size_of(*graph);
  }
  tidy(graph);
}

void remove_writes(std::shared_ptr<torch::jit::Graph>& graph,
                   const std::unordered_set<const Node*>& writes) {
  const std::function<bool(Node*)> is_one = [&](const Node* node) { return writes.contains(node); };
  torch::jit::RemoveTensorMutation(graph, is_one);
  tidy(graph);
}

}  // namespace pareto::model
