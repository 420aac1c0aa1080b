#include "runtime/torch/written_weights.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <unordered_set>

namespace pareto::runtime {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
namespace jit = torch::jit;

bool is_tensor(const jit::Value* value) {
  return value->type()->kind() == c10::TypeKind::TensorType;
}

/// Returns the tensors in the same order for every copy of a graph.
std::vector<jit::Value*> given_tensors(Graph& graph) {
  std::vector<jit::Value*> tensors;
  for (jit::Value* input : graph.inputs()) {
    if (is_tensor(input)) tensors.push_back(input);
  }
  for_each_node(graph.block(), [&](Node* node) {
    if (node->kind() == c10::prim::GetAttr && is_tensor(node->output())) {
      tensors.push_back(node->output());
    }
  });
  return tensors;
}

/// Returns the statistics of a norm that trains: running mean and variance, which its schema does
/// not mark as written.
std::vector<const jit::Value*> statistics_of(const Node* node) {
  const bool batch_norm = node->kind() == c10::aten::batch_norm;
  const bool instance_norm = node->kind() == c10::aten::instance_norm;
  if (!batch_norm && !instance_norm) return {};
  constexpr std::size_t kMean = 3;
  constexpr std::size_t kVariance = 4;
  constexpr std::size_t kTraining = 5;
  const auto training = torch::jit::toIValue(node->input(kTraining));
  if (training && training->isBool() && !training->toBool()) return {};
  return {node->input(kMean), node->input(kVariance)};
}

}  // namespace

void for_each_node(Block* block, const std::function<void(Node*)>& visit) {
  for (Node* node : block->nodes()) {
    visit(node);
    for (Block* inner : node->blocks()) for_each_node(inner, visit);
  }
}

bool writes_anything(Block* block) {
  return std::any_of(block->nodes().begin(), block->nodes().end(), [](Node* node) {
    const auto inner = node->blocks();
    return std::any_of(inner.begin(), inner.end(), writes_anything) ||
           (node->maybeSchema() != nullptr && node->schema().is_mutable());
  });
}

bool writes_through_calls(const jit::Module& module) {
  const auto functions = module._ivalue()->compilation_unit()->get_functions();
  if (functions.size() < 2) return false;
  return std::ranges::any_of(functions, [](jit::Function* function) {
    auto* const code = jit::tryToGraphFunction(*function);
    if (code == nullptr || writes_anything(code->graph()->block())) return true;
    bool trains = false;
    for_each_node(code->graph()->block(),
                  [&](Node* node) { trains = trains || !statistics_of(node).empty(); });
    return trains;
  });
}

jit::Value* cloned(jit::Value* tensor) {
  Graph& graph = *tensor->owningGraph();
  const bool is_input = tensor->node() == graph.param_node();
  const torch::jit::WithInsertPoint here(is_input ? *graph.nodes().begin()
                                                  : tensor->node()->next());
  Node* clone = graph.insert(c10::aten::clone, {tensor})->node();
  tensor->replaceAllUsesWith(clone->output());
  clone->replaceInput(0, tensor);
  return clone->output();
}

std::vector<jit::Value*> written_tensors(Graph& graph) {
  std::unordered_set<const jit::Value*> written;
  for_each_node(graph.block(), [&](Node* node) {
    for (const jit::Value* statistic : statistics_of(node)) written.insert(statistic);
  });
  std::vector<jit::Value*> tensors = given_tensors(graph);
  if (writes_anything(graph.block())) {
    const auto copy = graph.copy();
    std::vector<jit::Value*> copies = given_tensors(*copy);
    for (jit::Value*& tensor : copies) tensor = cloned(tensor);
    const torch::jit::AliasDb aliases(copy);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (aliases.hasWriters(copies[i])) written.insert(tensors[i]);
    }
  }
  std::erase_if(tensors, [&](const jit::Value* tensor) { return !written.contains(tensor); });
  return tensors;
}

std::size_t copy_written_weights(Graph& graph) {
  jit::Value* self = graph.inputs().at(0);
  const auto is_weight = [self](const jit::Value* tensor) {
    return tensor->node()->kind() == c10::prim::GetAttr && tensor->node()->input() == self;
  };
  std::map<std::string, jit::Value*> copies;
  for (const jit::Value* tensor : written_tensors(graph)) {
    if (is_weight(tensor)) copies[tensor->node()->s(c10::attr::name)] = nullptr;
  }
  const std::vector<jit::Value*> tensors = given_tensors(graph);
  const torch::jit::WithInsertPoint start(*graph.nodes().begin());
  for (auto& [name, copy] : copies) {
    // Not a clone: passes that do not know what a norm writes would take it for a constant.
    jit::Value* saved = graph.insertGetAttr(self, name);
    copy = graph.insert(c10::aten::empty_like, {saved});
    graph.insert(c10::aten::copy_, {copy, saved});
  }
  for (jit::Value* tensor : tensors) {
    if (!is_weight(tensor)) continue;
    const auto found = copies.find(tensor->node()->s(c10::attr::name));
    if (found != copies.end()) tensor->replaceAllUsesWith(found->second);
  }
  return 2 * copies.size();
}

}  // namespace pareto::runtime
