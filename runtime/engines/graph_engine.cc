#include <c10/util/ScopeExit.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/freeze_module.h>
#include <torch/csrc/jit/passes/frozen_graph_optimizations.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "runtime/engines/engine.h"
#include "runtime/kernels/parts.h"
#include "runtime/torch/compat.h"
#include "runtime/torch/interruption.h"
#include "runtime/torch/map_tensors.h"
#include "runtime/torch/threads.h"

namespace pareto::runtime {
namespace {

void block_to_bfloat16(torch::jit::Block* block) {
  for (torch::jit::Node* node : block->nodes()) {
    for (torch::jit::Block* inner : node->blocks()) block_to_bfloat16(inner);
    if (node->kind() != c10::prim::Constant || !node->hasAttribute(c10::attr::value)) continue;
    if (node->kindOf(c10::attr::value) != torch::jit::AttributeKind::t) continue;
    const at::Tensor& tensor = node->t(c10::attr::value);
    if (tensor.scalar_type() != at::kFloat) continue;
    node->t_(c10::attr::value, tensor.to(at::kBFloat16));
    node->output()->inferTypeFrom(node->t(c10::attr::value));
  }
}

/// Refuses convolutions and poolings whose windows make no steps: LibTorch's own operators refuse
/// them, those of oneDNN divide by zero.
void refuse_impossible_windows(torch::jit::Block* block) {
  for (torch::jit::Node* node : block->nodes()) {
    for (torch::jit::Block* inner : node->blocks()) refuse_impossible_windows(inner);
    const c10::FunctionSchema* schema = node->maybeSchema();
    const std::string kind = node->kind().toUnqualString();
    const bool slides =
        kind.find("conv") != std::string::npos || kind.find("pool") != std::string::npos;
    if (schema == nullptr || !slides) continue;
    for (std::size_t i = 0; i < schema->arguments().size() && i < node->inputs().size(); ++i) {
      const std::string& name = schema->arguments()[i].name();
      const bool steps = name == "stride" || name == "dilation" || name == "kernel_size";
      if (!steps && name != "padding") continue;
      const auto sizes = torch::jit::toIValue(node->input(i));
      if (!sizes || !sizes->isIntList()) continue;
      for (const std::int64_t size : sizes->toIntVector()) {
        if (size >= (steps ? 1 : 0)) continue;
        throw std::runtime_error(fmt::format("{} has a {} of {}", kind, name, size));
      }
    }
  }
}

/// Returns how many elements the tuple has that the graph returns. Throws if it returns no tuple.
std::size_t result_count(const torch::jit::Graph& graph) {
  return graph.outputs()[0]->type()->expectRef<c10::TupleType>().elements().size();
}

std::shared_ptr<torch::jit::Graph> marked(std::shared_ptr<torch::jit::Graph> graph) {
  insert_ready_marks(graph);
  insert_stop_checks(*graph);
  insert_questions(*graph);
  return graph;
}

void make_empty(torch::jit::Graph& graph) {
  while (!graph.outputs().empty()) graph.eraseOutput(graph.outputs().size() - 1);
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {
    node.destroyCurrent();
  }
}

}  // namespace

std::vector<std::ptrdiff_t> find_passed_through(const std::shared_ptr<torch::jit::Graph>& graph) {
  const auto inputs = graph->inputs().slice(1);
  std::unique_ptr<torch::jit::AliasDb> aliases;  // made where it is needed
  const torch::jit::Node* const maker = graph->outputs()[0]->node();
  // A tuple that is constant as a whole, or comes from a branch, is not put together here.
  if (maker->kind() != c10::prim::TupleConstruct) {
    return std::vector<std::ptrdiff_t>(result_count(*graph), -1);
  }
  std::vector<std::ptrdiff_t> found;
  for (const torch::jit::Value* result : maker->inputs()) {
    const auto input = std::find(inputs.begin(), inputs.end(), result);
    if (input != inputs.end() && !aliases) aliases = std::make_unique<torch::jit::AliasDb>(graph);
    const bool unchanged = input != inputs.end() && !aliases->hasWriters(result);
    found.push_back(unchanged ? input - inputs.begin() : -1);
  }
  return found;
}

std::vector<c10::IValue> results_in(const c10::IValue& tuple, std::size_t count) {
  const auto& elements = tuple.toTupleRef().elements();
  if (elements.size() != count) {
    throw std::runtime_error(fmt::format(
        "the shard returned a tuple of {} values, its code says {}", elements.size(), count));
  }
  return std::vector<c10::IValue>(elements.begin(), elements.end());
}

c10::IValue ArgumentChange::apply(const c10::IValue& argument) {
  return map_tensors(argument, [&](const at::Tensor& tensor) { return changed(tensor); });
}

at::Tensor ArgumentChange::changed(const at::Tensor& tensor) {
  const bool casts = precision_ == Precision::kBFloat16 && tensor.scalar_type() == at::kFloat;
  const auto type = casts ? at::kBFloat16 : tensor.scalar_type();
  if (tensor.dim() != 4) return tensor.to(type);
  const bool channels_last = layout_ == Layout::kChannelsLast;
  return layout_change_.apply(
      tensor, channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous, type);
}

GraphEngine::GraphEngine(EngineGraph graph)
    : marks_(c10::make_intrusive<ReadyMarks>()),
      passed_through_(find_passed_through(graph.graph)),
      pooled_(graph.pooled),
      blocked_(graph.pooled ? block_samples(graph.graph, graph.extra) : BlockedGraph{}),
      code_(marked(graph.graph), "run"),
      self_(std::move(graph.self)),
      extra_(std::move(graph.extra)),
      packed_(std::move(graph.packed)),
      change_(graph.layout, graph.precision) {
  if (blocked_.blocks) blocked_code_.emplace(marked(std::move(blocked_.graph)), "run");
}

bool GraphEngine::runs_in_blocks(const torch::jit::Stack& arguments) const {
  if (!blocked_code_) return false;
  for (const c10::IValue& argument : arguments) {
    if (!argument.isTensor() || argument.toTensor().dim() != 4) continue;
    const std::int64_t batch = argument.toTensor().size(0);
    // As a whole, results are ready as soon as they can be.
    return batch > 1 && !blocked_.blocks->is_whole(batch);
  }
  return false;
}

std::uint64_t GraphEngine::packed_bytes() const { return kernels::bytes_of(packed_.get()); }

std::vector<c10::IValue> GraphEngine::run(std::vector<c10::IValue> inputs, EarlyResults* early) {
  std::vector<bool> taken(passed_through_.size());
  const auto offer = [&](std::size_t index, const c10::IValue& result) {
    if (early == nullptr || !early->wants(index)) return;
    early->take(index, result);
    taken[index] = true;
  };
  std::vector<c10::IValue> unchanged(passed_through_.size());
  for (std::size_t i = 0; i < unchanged.size(); ++i) {
    if (passed_through_[i] < 0) continue;
    unchanged[i] = inputs[static_cast<std::size_t>(passed_through_[i])];
    offer(i, unchanged[i]);
  }
  if (early != nullptr) {
    marks_->ready = offer;
  }
  const auto unmark = c10::make_scope_exit([&] { marks_->ready = nullptr; });
  std::optional<OneThread> alone;
  if (pooled_) alone.emplace();
  torch::jit::Stack stack;
  stack.reserve(inputs.size() + extra_.size() + 3);
  stack.push_back(self_);
  for (c10::IValue& input : inputs) {
    stack.push_back(change_.apply(input));
    input = {};
  }
  const bool in_blocks = runs_in_blocks(stack);
  inputs.clear();  // the graph frees an argument after its last use
  stack.insert(stack.end(), extra_.begin(), extra_.end());
  if (in_blocks) stack.push_back(c10::IValue::make_capsule(blocked_.blocks));
  stack.push_back(c10::IValue::make_capsule(marks_));
  torch::jit::InterpreterState(in_blocks ? *blocked_code_ : code_).run(stack);
  std::vector<c10::IValue> outputs = results_in(stack.back(), passed_through_.size());
  stack.clear();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (taken[i]) {
      outputs[i] = {};
    } else if (passed_through_[i] >= 0) {
      // What only passes through keeps the precision and layout it came in.
      outputs[i] = std::move(unchanged[i]);
    }
  }
  return outputs;
}

EngineGraph prepare_plain(const LoadedModule& loaded) {
  if (loaded.precision != Precision::kFloat32) {
    throw std::runtime_error("it computes in the model's own precision");
  }
  return {loaded.module.get_method("run").graph()->copy(), loaded.module._ivalue()};
}

FrozenShard freeze_shard(const LoadedModule& loaded) {
  const torch::jit::Module frozen = torch::jit::freeze_module(loaded.module, {"run"});
  auto held = frozen.get_method("run").graph();
  // A frozen module is one more class of the compilation unit that it came from, which keeps it as
  // long as the shard is loaded: the folded weights of every engine that was ever built.
  const auto emptied = c10::make_scope_exit([&] { make_empty(*held); });
  torch::jit::OptimizeFrozenGraph(held, /*optimize_numerics=*/true);
  refuse_impossible_windows(held->block());
  return {held->copy(), frozen._ivalue()};
}

void constants_to_bfloat16(torch::jit::Graph& graph) { block_to_bfloat16(graph.block()); }

}  // namespace pareto::runtime
