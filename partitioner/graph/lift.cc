#include <torch/csrc/jit/passes/dead_code_elimination.h>

#include <optional>
#include <unordered_map>

#include "partitioner/graph/flat_graph.h"
#include "partitioner/graph/flatten.h"

namespace pareto::partitioner {
namespace {

using torch::jit::Node;
using torch::jit::Value;

/// Below this a constant stays in the code.
constexpr std::size_t kLargeConstantBytes = 256;

struct Attribute {
  c10::IValue value;
  std::string path;
  bool is_parameter = false;
};

class Lifter {
 public:
  Lifter(torch::jit::Graph& graph, const torch::jit::Module& module)
      : graph_(graph), module_(module), self_(graph.inputs().at(0)) {}

  Expected<std::vector<FlatWeight>> run() {
    std::vector<Node*> reads;
    std::string written;
    for_each_node(graph_.block(), [&](Node* node) {
      if (node->kind() == c10::prim::GetAttr) reads.push_back(node);
      if (node->kind() == c10::prim::SetAttr) written = node->s(c10::attr::name);
    });
    if (!written.empty()) {
      return fail(ErrorCode::kInvalidArgument,
                  "the model sets its attribute {} while it runs; a stage keeps no state between "
                  "requests, so such a model cannot be cut",
                  written);
    }
    for (Node* read : reads) PARETO_TRY(lift(read));
    torch::jit::EliminateDeadCode(graph_.block());
    if (self_->hasUses()) {
      return fail(ErrorCode::kInvalidArgument,
                  "the model uses a module as a value ({}), which the flat form cannot express",
                  self_->uses().at(0).user->kind().toQualString());
    }
    graph_.eraseInput(0);
    return std::move(weights_);
  }

 private:
  Expected<> lift(Node* read) {
    const auto attribute = find(read);
    if (!attribute || attribute->value.isObject()) return {};
    if (attribute->value.isTensor()) {
      read->output()->replaceAllUsesWith(weight(*attribute));
      return {};
    }
    const torch::jit::WithInsertPoint here(read);
    const auto constant = torch::jit::tryInsertConstant(graph_, attribute->value);
    if (!constant) {
      return fail(ErrorCode::kInvalidArgument, "attribute {} holds a {}, which is no constant",
                  attribute->path, attribute->value.tagKind());
    }
    read->output()->replaceAllUsesWith(*constant);
    return {};
  }

  /// The attribute that a chain of reads from `self` ends at; none for a chain that starts elsewhere.
  std::optional<Attribute> find(Node* read) const {
    std::vector<std::string> names;
    const Value* object = read->output();
    while (object != self_) {
      const Node* node = object->node();
      if (node->kind() != c10::prim::GetAttr) return std::nullopt;
      names.push_back(node->s(c10::attr::name));
      object = node->input();
    }
    Attribute found{module_._ivalue(), "", false};
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
      const auto holder = found.value.toObject();
      const auto slot = holder->type()->getAttributeSlot(*name);
      found.is_parameter = holder->type()->is_parameter(slot);
      found.value = holder->getSlot(slot);
      found.path += (found.path.empty() ? "" : ".") + *name;
    }
    return found;
  }

  Value* weight(const Attribute& attribute) {
    const at::Tensor tensor = attribute.value.toTensor();
    Value*& value = values_[tensor.unsafeGetTensorImpl()];
    if (value == nullptr) {
      value = graph_.addInput();
      value->setType(c10::TensorType::get());
      weights_.push_back({attribute.path, tensor.detach(), attribute.is_parameter});
    }
    return value;
  }

  torch::jit::Graph& graph_;
  const torch::jit::Module& module_;
  Value* self_;
  std::unordered_map<const c10::TensorImpl*, Value*> values_;
  std::vector<FlatWeight> weights_;
};

}  // namespace

Expected<std::vector<FlatWeight>> lift_attributes(torch::jit::Graph& graph,
                                                  const torch::jit::Module& module) {
  return Lifter(graph, module).run();
}

void lift_constants(torch::jit::Graph& graph, std::vector<FlatWeight>& weights) {
  std::vector<Node*> large;
  for_each_node(graph.block(), [&](Node* node) {
    if (node->kind() != c10::prim::Constant) return;
    const auto value = torch::jit::toIValue(node->output());
    if (value && value->isTensor() && value->toTensor().defined() &&
        value->toTensor().nbytes() > kLargeConstantBytes) {
      large.push_back(node);
    }
  });
  std::unordered_map<const c10::TensorImpl*, Value*> lifted;
  for (Node* node : large) {
    const at::Tensor tensor = torch::jit::toIValue(node->output())->toTensor();
    Value*& value = lifted[tensor.unsafeGetTensorImpl()];
    if (value == nullptr) {
      value = graph.addInput();
      value->setType(c10::TensorType::get());
      weights.push_back({"constants." + std::to_string(lifted.size() - 1), tensor, false});
    }
    node->output()->replaceAllUsesWith(value);
    node->destroy();
  }
}

void drop_unused_weights(torch::jit::Graph& graph, std::vector<FlatWeight>& weights) {
  const std::size_t first = graph.inputs().size() - weights.size();
  for (std::size_t i = weights.size(); i > 0; --i) {
    if (graph.inputs()[first + i - 1]->hasUses()) continue;
    graph.eraseInput(first + i - 1);
    weights.erase(weights.begin() + static_cast<std::ptrdiff_t>(i - 1));
  }
}

}  // namespace pareto::partitioner
