#include "partitioner/model/graph/flat_graph.h"

#include <functional>
#include <unordered_set>

namespace pareto::model {

using torch::jit::Block;
using torch::jit::Node;
namespace jit = torch::jit;

std::vector<Node*> operators_of(torch::jit::Graph& graph) {
  std::vector<Node*> operators;
  for (Node* node : graph.nodes()) {
    if (node->kind() != c10::prim::Constant) operators.push_back(node);
  }
  return operators;
}

std::vector<Node*> nodes_of_kind(Block* block, c10::Symbol kind) {
  std::vector<Node*> nodes;
  for_each_node(block, [&](Node* node) {
    if (node->kind() == kind) nodes.push_back(node);
  });
  return nodes;
}

std::vector<jit::Value*> outer_inputs(Node* node) {
  std::vector<jit::Value*> found;
  std::unordered_set<const jit::Value*> seen;
  std::unordered_set<const jit::Value*> inner;
  const auto use = [&](jit::Value* value) {
    if (!inner.contains(value) && seen.insert(value).second) found.push_back(value);
  };
  const std::function<void(Block*)> walk = [&](Block* block) {
    inner.insert(block->inputs().begin(), block->inputs().end());
    for (Node* child : block->nodes()) {
      for (jit::Value* input : child->inputs()) use(input);
      for (Block* nested : child->blocks()) walk(nested);
      inner.insert(child->outputs().begin(), child->outputs().end());
    }
    for (jit::Value* output : block->outputs()) use(output);
  };
  for (jit::Value* input : node->inputs()) use(input);
  for (Block* block : node->blocks()) walk(block);
  return found;
}

bool is_constant(const jit::Value* value) { return value->node()->kind() == c10::prim::Constant; }

bool is_container(const jit::Value* value) {
  const auto kind = value->type()->kind();
  return kind == c10::TypeKind::ListType || kind == c10::TypeKind::DictType;
}

std::string scope_path(Node* node) {
  const auto scope = node->scope();
  if (!scope || scope->isRoot() || scope->isBlank()) return "";
  return scope->name().toUnqualString();
}

void set_scope_path(Node* node, const std::string& path) {
  const auto root = c10::make_intrusive<torch::jit::Scope>();
  const auto scope = path.empty() ? root : root->push(c10::Symbol::scope(path));
  node->setScope(scope);
  for (Block* block : node->blocks()) {
    for_each_node(block, [&](Node* inner) { inner->setScope(scope); });
  }
}

GraphCut::GraphCut() : graph_(std::make_shared<torch::jit::Graph>()) {}

jit::Value* GraphCut::add_input(jit::Value* old) {
  jit::Value* fresh = graph_->addInput();
  fresh->copyMetadata(old);
  fresh_[old] = fresh;
  return fresh;
}

void GraphCut::stand_in(jit::Value* old, jit::Value* fresh) { fresh_[old] = fresh; }

jit::Value* GraphCut::get(jit::Value* old) {
  if (const auto found = fresh_.find(old); found != fresh_.end()) return found->second;
  TORCH_CHECK(is_constant(old), "%", old->debugName(), " is used before it exists");
  Node* copy = graph_->insertNode(graph_->createClone(old->node(), nullptr));
  return fresh_[old] = copy->output();
}

void GraphCut::add_node(Node* node) {
  // Constants first: createClone asks for them while the node is not yet in place.
  for (jit::Value* input : outer_inputs(node)) get(input);
  Node* copy = graph_->insertNode(
      graph_->createClone(node, [this](jit::Value* value) { return fresh_.at(value); }));
  for (std::size_t i = 0; i < node->outputs().size(); ++i) {
    fresh_[node->outputs()[i]] = copy->outputs()[i];
  }
}

}  // namespace pareto::model
