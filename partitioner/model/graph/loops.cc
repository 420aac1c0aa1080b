#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/loop_unrolling.h>

#include <optional>
#include <utility>
#include <vector>

#include "partitioner/model/graph/flat_graph.h"
#include "partitioner/model/graph/flatten.h"

namespace pareto::model {
namespace {

using torch::jit::Block;
using torch::jit::Node;
namespace jit = torch::jit;

bool is_always_true(const jit::Value* value) {
  const auto constant = torch::jit::toIValue(value);
  return constant && constant->isBool() && constant->toBool();
}

/// Finds the loops whose unrolling would add more than kMostUnrolled operators to a graph.
class LongLoops {
 public:
  std::vector<Node*> find(Block* block) {
    size_of(block);
    return std::move(found_);
  }

 private:
  /// Returns how many operators a block has once its other loops are unrolled.
  std::int64_t size_of(Block* block) {
    std::int64_t size = 0;
    for (Node* node : block->nodes()) {
      if (node->kind() == c10::prim::Constant) continue;
      std::int64_t inner = 1;
      for (Block* nested : node->blocks()) inner += size_of(nested);
      const std::int64_t steps = constant_steps(node).value_or(1);
      if (steps > 1 && inner > (kMostUnrolled - unrolled_) / steps) {
        found_.push_back(node);
      } else if (steps > 1) {
        inner *= steps;
        unrolled_ += inner;
      }
      size += inner;
    }
    return size;
  }

  std::vector<Node*> found_;
  std::int64_t unrolled_ = 0;
};

}  // namespace

std::optional<std::int64_t> constant_steps(const Node* node) {
  if (node->kind() != c10::prim::Loop) return std::nullopt;
  const auto steps = torch::jit::toIValue(node->input(0));
  if (!steps || !steps->isInt() || !is_always_true(node->input(1)) ||
      !is_always_true(node->blocks()[0]->outputs()[0])) {
    return std::nullopt;
  }
  return steps->toInt();
}

void unroll_loops(std::shared_ptr<torch::jit::Graph>& graph) {
  // LibTorch unrolls every loop with a constant number of steps, and eight steps at a time if they
  // are 64 or more. During its pass the long ones have no such number.
  std::vector<std::pair<jit::Value*, c10::IValue>> hidden;
  for (Node* loop : LongLoops().find(graph->block())) {
    jit::Value* unknown = graph->addInput()->setType(c10::IntType::get());
    hidden.emplace_back(unknown, *torch::jit::toIValue(loop->input(0)));
    loop->replaceInput(0, unknown);
  }
  torch::jit::UnrollConstantLoops(graph);
  const torch::jit::WithInsertPoint start(*graph->nodes().begin());
  for (auto entry = hidden.rbegin(); entry != hidden.rend(); ++entry) {
    entry->first->replaceAllUsesWith(graph->insertConstant(entry->second));
    graph->eraseInput(entry->first->offset());
  }
}

}  // namespace pareto::model
