#include <torch/csrc/jit/ir/constants.h>

#include <vector>

#include "partitioner/model/graph/flat_graph.h"
#include "partitioner/model/graph/flatten.h"

namespace pareto::model {
namespace {

using torch::jit::Node;
namespace jit = torch::jit;

bool takes_number_or_tensor(const Node* node) {
  return node->matches("aten::add(Tensor self, Tensor other, *, Scalar alpha) -> Tensor") ||
         node->matches("aten::sub(Tensor self, Tensor other, *, Scalar alpha) -> Tensor") ||
         node->matches("aten::mul(Tensor self, Tensor other) -> Tensor") ||
         node->matches("aten::div(Tensor self, Tensor other) -> Tensor");
}

/// Returns the number that stands in a constant of no dimensions; None for every other value.
c10::IValue number_in(const jit::Value* value) {
  const auto constant = torch::jit::toIValue(value);
  if (!constant || !constant->isTensor() || !constant->toTensor().defined()) return {};
  const at::Tensor& tensor = constant->toTensor();
  if (tensor.dim() != 0 || tensor.requires_grad() || tensor.is_quantized()) return {};
  const auto type = tensor.scalar_type();
  if (!c10::isFloatingType(type) && !c10::isIntegralType(type, /*includeBool=*/false)) return {};
  return tensor.item();
}

}  // namespace

void use_numbers(torch::jit::Graph& graph) {
  std::vector<Node*> nodes;
  for_each_node(graph.block(), [&](Node* node) {
    if (takes_number_or_tensor(node)) nodes.push_back(node);
  });
  for (Node* node : nodes) {
    const c10::IValue number = number_in(node->input(1));
    if (number.isNone()) continue;
    const torch::jit::WithInsertPoint here(node);
    std::vector<jit::Value*> inputs = node->inputs().vec();
    inputs[1] = graph.insertConstant(number);
    Node* fresh = graph.insertNode(graph.create(node->kind(), inputs));
    fresh->copyMetadata(node);
    fresh->output()->copyMetadata(node->output());
    node->output()->replaceAllUsesWith(fresh->output());
    node->destroy();
  }
}

}  // namespace pareto::model
