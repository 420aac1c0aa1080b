#include "partitioner/model/emit/module_tree.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "partitioner/model/graph/flat_graph.h"
#include "runtime/torch/convert.h"

namespace pareto::model {
namespace {

namespace jit = torch::jit;

/// One module of the tree, and those inside it.
class TreeNode {
 public:
  explicit TreeNode(const std::shared_ptr<jit::CompilationUnit>& unit)
      : module_(c10::QualifiedName("__torch__.pareto.Model"), unit, /*shouldMangle=*/true) {
    module_.register_attribute("training", c10::BoolType::get(), false);
  }

  /// Adds a weight under the rest of its name.
  void add(const std::vector<std::string>& path, std::size_t at, const FlatWeight& weight,
           const at::Tensor& tensor, const std::shared_ptr<jit::CompilationUnit>& unit) {
    if (at + 1 == path.size()) {
      if (weight.is_parameter) {
        module_.register_parameter(path[at], tensor, /*is_buffer=*/false);
      } else {
        module_.register_buffer(path[at], tensor);
      }
      return;
    }
    auto& child = children_[path[at]];
    if (!child) child = std::make_unique<TreeNode>(unit);
    child->add(path, at + 1, weight, tensor, unit);
  }

  /// Makes each module know those inside it, from the innermost ones up.
  const jit::Module& finish() {
    for (auto& [name, child] : children_) module_.register_module(name, child->finish());
    return module_;
  }

 private:
  jit::Module module_;
  std::map<std::string, std::unique_ptr<TreeNode>> children_;
};

/// Inserts what reads a weight: self.layer1.0.conv.weight.
jit::Value* insert_chain(jit::Graph& graph, jit::Value* self,
                         const std::vector<std::string>& path) {
  jit::Value* value = self;
  for (const std::string& part : path) value = graph.insertGetAttr(value, part);
  return value;
}

}  // namespace

jit::Module module_of(const Flat& flat, const NamedTensors& state) {
  const auto unit = std::make_shared<jit::CompilationUnit>();
  std::map<std::string, const Tensor*> by_name;
  for (const auto& [name, tensor] : state) by_name[name] = &tensor;
  TreeNode root(unit);
  for (const FlatWeight& weight : flat.weights) {
    const auto found = by_name.find(weight.name);
    at::Tensor tensor =
        (found == by_name.end() ? weight.tensor : runtime::to_torch(*found->second)).detach();
    if (weight.is_parameter) tensor.set_requires_grad(weight.is_trainable);
    root.add(split_list(weight.name, '.'), 0, weight, tensor, unit);
  }
  jit::Module module = root.finish();

  GraphCut forward;
  jit::Value* self = forward.graph()->addInput("self");
  self->setType(module._ivalue()->type());
  const auto inputs = flat.graph->inputs();
  for (std::size_t i = 0; i < flat.model_inputs; ++i) forward.add_input(inputs[i]);
  for (std::size_t i = 0; i < flat.weights.size(); ++i) {
    forward.stand_in(inputs[flat.model_inputs + i],
                     insert_chain(*forward.graph(), self, split_list(flat.weights[i].name, '.')));
  }
  for (jit::Node* node : operators_of(*flat.graph)) forward.add_node(node);
  std::vector<jit::Value*> results;
  for (jit::Value* output : flat.graph->outputs()) results.push_back(forward.get(output));
  if (results.size() != 1) {
    results = {forward.graph()->insertNode(forward.graph()->createTuple(results))->output()};
  }
  forward.graph()->registerOutput(results.front());
  const c10::QualifiedName name(*module.type()->name(), "forward");
  module.type()->addMethod(unit->create_function(name, forward.graph()));
  return module;
}

}  // namespace pareto::model
