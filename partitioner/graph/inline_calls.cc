#include <torch/csrc/jit/passes/inliner.h>

#include "partitioner/graph/flat_graph.h"
#include "partitioner/graph/flatten.h"

namespace pareto::partitioner {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

/// "features.5.conv" for self.features.5.conv; what does not start at `self` keeps the caller's path.
std::string module_path(const Value* object, const Value* self, const std::string& otherwise) {
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
  explicit Inliner(const Value* self) : self_(self) {}

  void run(Block* block) {
    Node* const end = block->return_node();
    for (Node* node = end->next(); node != end;) {
      Node* const before = node->prev();
      if (inline_call(node)) {
        node = before->next();  // the body may call again
        continue;
      }
      for (Block* inner : node->blocks()) run(inner);
      node = node->next();
    }
  }

 private:
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

  const Value* self_;
};

}  // namespace

void inline_calls(torch::jit::Graph& graph) { Inliner(graph.inputs().at(0)).run(graph.block()); }

}  // namespace pareto::partitioner
