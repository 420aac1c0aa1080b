#include "runtime/training/write_count.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "runtime/torch/register_operator.h"
#include "runtime/torch/written_weights.h"

namespace pareto::runtime {
namespace {

thread_local std::int64_t* count_of_this_thread = nullptr;

c10::Symbol count_symbol() {
  static const c10::Symbol kSymbol = register_operator(
      "pareto::count_writes(int writes) -> ()",
      [](torch::jit::Stack& stack) {
        const std::int64_t writes = torch::jit::pop(stack).toInt();
        if (count_of_this_thread == nullptr) return;
        *count_of_this_thread += writes;
        if (*count_of_this_thread <= kMostWrites) return;
        throw std::runtime_error(
            fmt::format("in training a pass may write in place at most {} times: gather what a "
                        "loop makes in a list, and stack it",
                        kMostWrites));
      },
      c10::AliasAnalysisKind::CONSERVATIVE);
  return kSymbol;
}

/// Returns how many writes one run of a block has at most, without those of loops inside.
std::int64_t insert_into(torch::jit::Graph& graph, torch::jit::Block* block, c10::Symbol symbol) {
  std::int64_t writes = 0;
  const auto count_first = [&](torch::jit::Block* counted, std::int64_t number) {
    if (number == 0) return;
    const torch::jit::WithInsertPoint first(*counted->nodes().begin());
    torch::jit::Value* const constant = graph.insertConstant(number);
    graph.insertNode(graph.create(symbol, {constant}, /*num_outputs=*/0));
  };
  for (torch::jit::Node* node : block->nodes()) {
    writes += static_cast<std::int64_t>(marked_writes(node).size());
    for (torch::jit::Block* inner : node->blocks()) {
      const std::int64_t inside = insert_into(graph, inner, symbol);
      if (node->kind() == c10::prim::Loop) {
        count_first(inner, inside);
      } else {
        writes += inside;
      }
    }
  }
  if (block == graph.block()) count_first(block, writes);
  return writes;
}

}  // namespace

WriteCountScope::WriteCountScope() : before_(std::exchange(count_of_this_thread, &count_)) {}

WriteCountScope::~WriteCountScope() { count_of_this_thread = before_; }

void insert_write_counts(torch::jit::Graph& graph) {
  insert_into(graph, graph.block(), count_symbol());
}

}  // namespace pareto::runtime
