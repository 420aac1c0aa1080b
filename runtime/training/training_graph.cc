#include "runtime/training/training_graph.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/torch/interruption.h"
#include "runtime/torch/written_weights.h"

namespace pareto::runtime {
namespace {

/// Operators that behave differently in training, and which of their inputs says so.
constexpr std::array<std::pair<std::string_view, std::size_t>, 10> kSwitched{{
    {"aten::batch_norm", 5},
    {"aten::instance_norm", 5},
    {"aten::dropout", 2},
    {"aten::dropout_", 2},
    {"aten::feature_dropout", 2},
    {"aten::alpha_dropout", 2},
    {"aten::feature_alpha_dropout", 2},
    {"aten::feature_dropout_", 2},
    {"aten::alpha_dropout_", 2},
    {"aten::feature_alpha_dropout_", 2},
}};

std::optional<std::size_t> training_input(const torch::jit::Node* node) {
  const std::string_view kind = node->kind().toQualString();
  const auto* const found =
      std::ranges::find(kSwitched, kind, &std::pair<std::string_view, std::size_t>::first);
  if (found == kSwitched.end() || found->second >= node->inputs().size()) return std::nullopt;
  return found->second;
}

}  // namespace

std::shared_ptr<torch::jit::Graph> training_graph(
    const torch::jit::Graph& graph, const std::function<bool(const std::string& path)>& is_frozen) {
  auto copy = const_cast<torch::jit::Graph&>(graph).copy();
  const torch::jit::WithInsertPoint start(*copy->nodes().begin());
  torch::jit::Value* const on = copy->insertConstant(true);
  for_each_node(copy->block(), [&](torch::jit::Node* node) {
    const auto input = training_input(node);
    if (input && !is_frozen(node->scopeName())) node->replaceInput(*input, on);
  });
  return copy;
}

torch::jit::Code compile_graph(const std::shared_ptr<torch::jit::Graph>& graph, const char* name) {
  insert_stop_checks(*graph);
  return torch::jit::Code(graph, name);
}

std::vector<c10::IValue> run_code(const torch::jit::Code& code, const c10::IValue& self,
                                  std::vector<c10::IValue> arguments) {
  torch::jit::Stack stack;
  stack.reserve(arguments.size() + 1);
  stack.push_back(self);
  for (c10::IValue& argument : arguments) stack.push_back(std::move(argument));
  arguments.clear();
  torch::jit::InterpreterState(code).run(stack);
  const auto& elements = stack.back().toTupleRef().elements();
  return std::vector<c10::IValue>(elements.begin(), elements.end());
}

bool draws_random_numbers(torch::jit::Graph& graph) {
  bool draws = false;
  for_each_node(graph.block(), [&](torch::jit::Node* node) {
    // LibTorch's list of such operators lacks most kinds of dropout.
    const std::string_view kind = node->kind().toQualString();
    draws = draws || node->isNondeterministic() || kind.find("dropout") != std::string_view::npos;
  });
  return draws;
}

}  // namespace pareto::runtime
