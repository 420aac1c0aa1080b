#include "runtime/torch/ready_marks.h"

#include <torch/csrc/jit/ir/alias_analysis.h>

#include <algorithm>

#include "runtime/torch/register_operator.h"

namespace pareto::runtime {
namespace {

using torch::jit::Node;

c10::Symbol ready_symbol() {
  static const c10::Symbol kSymbol = register_operator(
      "pareto::ready(Any result, int index, Any marks) -> ()",
      [](torch::jit::Stack& stack) {
        const auto marks = torch::jit::pop(stack).toCapsule();
        const auto index = static_cast<std::size_t>(torch::jit::pop(stack).toInt());
        const c10::IValue result = torch::jit::pop(stack);
        const auto& ready = static_cast<ReadyMarks&>(*marks).ready;
        if (ready) ready(index, result);
      },
      c10::AliasAnalysisKind::CONSERVATIVE);
  return kSymbol;
}

bool computes(const Node* node) {
  return node->kind() != c10::prim::Constant && node->kind() != c10::prim::TupleConstruct &&
         node->kind() != c10::prim::ListConstruct;
}

}  // namespace

void insert_ready_marks(const std::shared_ptr<torch::jit::Graph>& graph) {
  const c10::Symbol symbol = ready_symbol();
  torch::jit::Value* const marks = graph->addInput();
  marks->setType(c10::CapsuleType::get());
  Node* const tuple = graph->outputs()[0]->node();
  if (tuple->kind() != c10::prim::TupleConstruct) return;
  const std::vector<torch::jit::Value*> results = tuple->inputs().vec();
  if (results.size() < 2) return;
  const torch::jit::AliasDb aliases(graph);
  std::vector<std::size_t> marked;
  for (std::size_t i = 0; i < results.size(); ++i) {
    torch::jit::Value* const result = results[i];
    Node* const maker = result->node();
    if (maker->kind() == c10::prim::Param || !computes(maker) ||
        result->type()->kind() != c10::TypeKind::TensorType) {
      continue;
    }
    bool computing = false;
    bool written = false;
    for (auto later = std::next(maker->iterator()); later != graph->nodes().end(); ++later) {
      computing = computing || computes(*later);
      written = written || aliases.writesToAlias(*later, {result});
    }
    if (computing && !written) marked.push_back(i);
  }
  for (const std::size_t i : marked) {
    const torch::jit::WithInsertPoint behind(results[i]->node()->next());
    torch::jit::Value* const index = graph->insertConstant(static_cast<std::int64_t>(i));
    graph->insertNode(graph->create(symbol, {results[i], index, marks}, /*num_outputs=*/0));
  }
}

}  // namespace pareto::runtime
