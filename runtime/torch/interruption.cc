#include "runtime/torch/interruption.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/base/pause.h"
#include "runtime/torch/register_operator.h"

namespace pareto::runtime {
namespace {

thread_local const std::atomic<bool>* stop_of_this_thread = nullptr;

c10::Symbol go_on_symbol() {
  static const c10::Symbol kSymbol = register_operator(
      "pareto::go_on() -> ()",
      [](torch::jit::Stack&) {
        if (stop_of_this_thread != nullptr && *stop_of_this_thread) {
          throw std::runtime_error("it was stopped: it took too long");
        }
        if (!pause_if_wanted()) throw std::runtime_error("it was stopped: its stage was closed");
      },
      c10::AliasAnalysisKind::CONSERVATIVE);
  return kSymbol;
}

void insert_into(torch::jit::Graph& graph, torch::jit::Block* block, c10::Symbol symbol) {
  for (torch::jit::Node* node : block->nodes()) {
    for (torch::jit::Block* inner : node->blocks()) {
      insert_into(graph, inner, symbol);
      if (node->kind() != c10::prim::Loop) continue;
      inner->prependNode(graph.create(symbol, {}, /*num_outputs=*/0));
    }
  }
}

/// Returns whether an operator computes a tensor from tensors.
bool computes_tensor(const torch::jit::Node* node) {
  const auto is_tensor = [](const torch::jit::Value* value) {
    return value->type()->kind() == c10::TypeKind::TensorType;
  };
  const auto inputs = node->inputs();
  return !node->kind().is_prim() && std::any_of(inputs.begin(), inputs.end(), is_tensor);
}

}  // namespace

StopScope::StopScope(const std::atomic<bool>* stop)
    : before_(std::exchange(stop_of_this_thread, stop)) {}

StopScope::~StopScope() { stop_of_this_thread = before_; }

const std::atomic<bool>* current_stop() { return stop_of_this_thread; }

void insert_stop_checks(torch::jit::Graph& graph) {
  insert_into(graph, graph.block(), go_on_symbol());
}

void insert_questions(torch::jit::Graph& graph) {
  const c10::Symbol symbol = go_on_symbol();
  for (torch::jit::Node* node : graph.nodes()) {
    if (!computes_tensor(node)) continue;
    graph.create(symbol, {}, /*num_outputs=*/0)->insertBefore(node);
  }
}

void for_each_called(const torch::jit::Module& module, void (*visit)(torch::jit::Graph&)) {
  const torch::jit::Function* const run = &module.get_method("run").function();
  for (torch::jit::Function* function : module._ivalue()->compilation_unit()->get_functions()) {
    if (function == run) continue;
    auto* const called = torch::jit::tryToGraphFunction(*function);
    if (called == nullptr) continue;
    called->ensure_defined();
    visit(*called->graph());
  }
}

}  // namespace pareto::runtime
