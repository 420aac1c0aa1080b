#include <torch/csrc/jit/passes/freeze_module.h>
#include <torch/csrc/jit/passes/frozen_graph_optimizations.h>

#include <stdexcept>
#include <utility>

#include "core/runtime/engine.h"
#include "core/runtime/torch_compat.h"

namespace pareto::runtime {
namespace {

/// A tensor in the layout and precision that an engine computes in; values of other kinds, and tensors inside containers, as they are.
c10::IValue prepared(c10::IValue value, Layout layout, Precision precision) {
  if (!value.isTensor() || !value.toTensor().defined()) return value;
  at::Tensor tensor = value.toTensor();
  if (precision == Precision::kBFloat16 && tensor.scalar_type() == at::kFloat) {
    tensor = tensor.to(at::kBFloat16);
  }
  if (layout == Layout::kChannelsLast && tensor.dim() == 4) {
    tensor = tensor.contiguous(at::MemoryFormat::ChannelsLast);
  }
  return tensor;
}

c10::IValue to_float32(const c10::IValue& value) {
  if (value.isTensor() && value.toTensor().defined() &&
      value.toTensor().scalar_type() == at::kBFloat16) {
    return value.toTensor().to(at::kFloat);
  }
  return value;
}

void constants_to_bfloat16(torch::jit::Block* block) {
  for (torch::jit::Node* node : block->nodes()) {
    for (torch::jit::Block* inner : node->blocks()) constants_to_bfloat16(inner);
    if (node->kind() != c10::prim::Constant || !node->hasAttribute(c10::attr::value)) continue;
    if (node->kindOf(c10::attr::value) != torch::jit::AttributeKind::t) continue;
    const at::Tensor& tensor = node->t(c10::attr::value);
    if (tensor.scalar_type() != at::kFloat) continue;
    node->t_(c10::attr::value, tensor.to(at::kBFloat16));
    node->output()->inferTypeFrom(node->t(c10::attr::value));
  }
}

}  // namespace

GraphEngine::GraphEngine(std::shared_ptr<torch::jit::Graph> graph, c10::IValue self,
                         std::vector<c10::IValue> extra, Layout layout, Precision precision)
    : code_(std::move(graph), "run"),
      self_(std::move(self)),
      extra_(std::move(extra)),
      layout_(layout),
      precision_(precision) {}

std::vector<c10::IValue> GraphEngine::run(std::vector<c10::IValue> inputs) {
  torch::jit::Stack stack;
  stack.reserve(inputs.size() + extra_.size() + 1);
  stack.push_back(self_);
  for (c10::IValue& input : inputs) {
    stack.push_back(prepared(std::move(input), layout_, precision_));
  }
  inputs.clear();  // the graph frees an argument after its last use
  stack.insert(stack.end(), extra_.begin(), extra_.end());
  torch::jit::InterpreterState(code_).run(stack);
  const c10::IValue result = std::move(stack.back());
  const auto& elements = result.toTupleRef().elements();
  std::vector<c10::IValue> outputs(elements.begin(), elements.end());
  if (precision_ == Precision::kBFloat16) {
    for (c10::IValue& output : outputs) output = to_float32(output);
  }
  return outputs;
}

std::unique_ptr<Engine> build_plain_engine(const LoadedModule& loaded) {
  return std::make_unique<GraphEngine>(loaded.module.get_method("run").graph()->copy(),
                                       loaded.module._ivalue());
}

torch::jit::Module freeze_shard(const LoadedModule& loaded) {
  torch::jit::Module frozen = torch::jit::freeze_module(loaded.module, {"run"});
  auto graph = frozen.get_method("run").graph();
  torch::jit::OptimizeFrozenGraph(graph, /*optimize_numerics=*/true);
  if (loaded.precision == Precision::kBFloat16) constants_to_bfloat16(graph->block());
  return frozen;
}

}  // namespace pareto::runtime
