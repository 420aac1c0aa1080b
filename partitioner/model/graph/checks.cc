#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <string>
#include <unordered_set>

#include "partitioner/model/graph/flat_graph.h"
#include "partitioner/model/graph/flatten.h"

namespace pareto::model {
namespace {

using torch::jit::Block;
using torch::jit::Node;
namespace jit = torch::jit;

/// Decides whether a condition can be another one for other data of the same shapes.
class DataDependence {
 public:
  bool of(const jit::Value* value) { return of(value, false); }

 private:
  /// `only_sizes`: the value is asked for its shape or type, not for its elements.
  bool of(const jit::Value* value, bool only_sizes) {
    if (!seen_[only_sizes ? 1 : 0].insert(value).second) return false;
    const Node* node = value->node();
    if (node->kind() == c10::prim::Constant) return false;
    // An input of the graph, or of a loop's body.
    if (node->kind() == c10::prim::Param) return !only_sizes || node->owningBlock() != top(node);
    if (node->kind() == c10::prim::Loop) return true;
    const std::string kind = node->kind().toQualString();
    if (sizes_follow_data(kind)) return true;
    only_sizes = only_sizes || asks_for_sizes(kind);
    if (node->kind() == c10::prim::If) {
      if (of(node->input(0), only_sizes)) return true;
      return std::ranges::any_of(node->blocks(), [&](const Block* block) {
        return of(block->outputs()[value->offset()], only_sizes);
      });
    }
    return std::ranges::any_of(node->inputs(),
                               [&](const jit::Value* input) { return of(input, only_sizes); });
  }

  static const Block* top(const Node* node) { return node->owningGraph()->block(); }

  std::unordered_set<const jit::Value*> seen_[2];
};

bool certainly_raises(Block* block) {
  return std::ranges::any_of(
      block->nodes(), [](const Node* node) { return node->kind() == c10::prim::RaiseException; });
}

bool is_empty(Block* block) { return block->nodes().begin() == block->nodes().end(); }

/// Puts a check of its own before one that decides which of its branches goes on.
void keep_check(Node* branch, std::size_t raising) {
  torch::jit::Graph& graph = *branch->owningGraph();
  Node* check = graph.create(c10::prim::If, {branch->input(0)}, 0);
  check->copyMetadata(branch);
  check->insertBefore(branch);
  for (std::size_t i = 0; i < 2; ++i) {
    Block* block = check->addBlock();
    if (i != raising) continue;
    block->cloneFrom(branch->blocks()[raising], [](jit::Value* value) { return value; });
    while (!block->outputs().empty()) block->eraseOutput(block->outputs().size() - 1);
  }
}

void remove_check(Node* branch) {
  for (std::size_t raising = 0; raising < 2; ++raising) {
    if (!certainly_raises(branch->blocks()[raising])) continue;
    if (DataDependence().of(branch->input(0))) {
      const bool is_bare = branch->outputs().empty() && is_empty(branch->blocks()[1 - raising]);
      if (is_bare) return;
      keep_check(branch, raising);
    }
    torch::jit::Graph& graph = *branch->owningGraph();
    const torch::jit::WithInsertPoint here(branch);
    branch->replaceInput(0, graph.insertConstant(raising == 1));
    return;
  }
}

}  // namespace

bool sizes_follow_data(const std::string& kind) {
  static const std::unordered_set<std::string> kKinds{
      "aten::nonzero",       "aten::masked_select",      "aten::index",
      "aten::unique_dim",    "aten::_unique2",           "aten::argwhere",
      "aten::bincount",      "aten::repeat_interleave",  "torchvision::nms",
      "aten::nonzero_numpy", "aten::unique_consecutive", "aten::_pack_padded_sequence",
      "prim::tolist"};
  return kKinds.contains(kind);
}

bool asks_for_sizes(const std::string& kind) {
  static const std::unordered_set<std::string> kKinds{"aten::size",
                                                      "aten::len",
                                                      "aten::dim",
                                                      "aten::numel",
                                                      "aten::is_floating_point",
                                                      "aten::__is__",
                                                      "aten::__isnot__",
                                                      "aten::stride",
                                                      "prim::dtype",
                                                      "prim::device",
                                                      "prim::layout",
                                                      "aten::is_complex",
                                                      "aten::new_zeros",
                                                      "aten::new_ones",
                                                      "aten::zeros_like",
                                                      "aten::ones_like"};
  return kKinds.contains(kind);
}

bool writes_to_input(const std::string& kind) {
  static const std::unordered_set<std::string> kOfLists{"aten::append", "aten::extend",
                                                        "aten::insert", "aten::_set_item"};
  return kOfLists.contains(kind) || (kind.ends_with('_') && !kind.ends_with("__"));
}

void remove_checks(torch::jit::Graph& graph) {
  for (Node* branch : nodes_of_kind(graph.block(), c10::prim::If)) remove_check(branch);
}

}  // namespace pareto::model
