#include <torch/csrc/jit/passes/inliner.h>

#include <vector>

#include "partitioner/model/graph/flat_graph.h"
#include "partitioner/model/graph/flatten.h"

namespace pareto::model {
namespace {

using torch::jit::Block;
using torch::jit::Node;
namespace jit = torch::jit;

/// Returns "features.5.conv" for self.features.5.conv; what does not start at `self` keeps the
/// caller's path.
std::string module_path(const jit::Value* object, const jit::Value* self,
                        const std::string& otherwise) {
  std::string path;
  while (object != self) {
    const Node* node = object->node();
    if (node->kind() != c10::prim::GetAttr) return otherwise;
    const std::string& name = node->s(c10::attr::name);
    path = path.empty() ? name : name + "." + path;
    object = node->input();
  }
  return path;
}

class Inliner {
 public:
  explicit Inliner(const jit::Value* self) : self_(self) {}

  void run(Block* block) {
    Node* const end = block->return_node();
    for (Node* node = end->next(); node != end;) {
      Node* const before = node->prev();
      if (inline_call(node) || inline_fork(node)) {
        node = before->next();  // the body may call again
        continue;
      }
      for (Block* inner : node->blocks()) run(inner);
      node = node->next();
    }
  }

 private:
  bool inline_fork(Node* fork) {
    if (fork->kind() != c10::prim::fork) return false;
    const std::string path = scope_path(fork);
    Node* const before = fork->prev();
    const torch::jit::WithInsertPoint here(fork);
    const auto body = fork->g(c10::attr::Subgraph);
    const auto results = torch::jit::insertGraph(*fork->owningGraph(), *body, fork->inputs());
    for (Node* node = before->next(); node != fork; node = node->next()) set_scope_path(node, path);
    fork->output()->replaceAllUsesWith(results.at(0));
    fork->destroy();
    return true;
  }

  bool inline_call(Node* call) {
    const bool is_method = call->kind() == c10::prim::CallMethod;
    if (!is_method && call->kind() != c10::prim::CallFunction) return false;
    torch::jit::GraphFunction* function = torch::jit::tryToGraphFunction(call);
    if (function == nullptr) return false;
    const std::string path =
        is_method ? module_path(call->input(0), self_, scope_path(call)) : scope_path(call);
    Node* const before = call->prev();
    Node* const after = call->next();
    if (!is_method) call->removeInput(0);  // the function itself
    torch::jit::inlineCallTo(call, function, function->graph().get());
    for (Node* node = before->next(); node != after; node = node->next())
      set_scope_path(node, path);
    return true;
  }

  const jit::Value* self_;
};

/// Returns a type with T in place of each Future[T] in it.
c10::TypePtr settled(const c10::TypePtr& type) {
  if (const auto future = type->cast<c10::FutureType>()) return settled(future->getElementType());
  if (type->kind() == c10::TypeKind::ClassType) return type;
  bool changed = false;
  std::vector<c10::TypePtr> parts;
  for (const c10::TypePtr& part : type->containedTypes()) {
    parts.push_back(settled(part));
    changed = changed || parts.back() != part;
  }
  return changed ? type->withContained(std::move(parts)) : type;
}

/// Puts values in place of the futures that stood for them, in lists too.
void settle_futures(torch::jit::Graph& graph) {
  for (Node* wait : nodes_of_kind(graph.block(), c10::aten::wait)) {
    wait->output()->replaceAllUsesWith(wait->input(0));
    wait->destroy();
  }
  graph.block()->remapTypes(settled);
}

}  // namespace

void inline_calls(torch::jit::Graph& graph) {
  Inliner(graph.inputs().at(0)).run(graph.block());
  settle_futures(graph);
}

}  // namespace pareto::model
