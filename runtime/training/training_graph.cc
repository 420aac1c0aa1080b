#include "runtime/training/training_graph.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/torch/interruption.h"
#include "runtime/torch/written_weights.h"
#include "runtime/training/write_count.h"

namespace pareto::runtime {
namespace {

/// An operator that behaves differently in training.
struct Switched {
  std::string_view kind;
  std::string_view input;  ///< name of the input that says so
  bool draws = true;       ///< it draws random numbers then
};

constexpr std::array<Switched, 16> kSwitched{{
    {"aten::batch_norm", "training", false},
    {"aten::instance_norm", "use_input_stats", false},
    {"aten::dropout", "train"},
    {"aten::dropout_", "train"},
    {"aten::feature_dropout", "train"},
    {"aten::alpha_dropout", "train"},
    {"aten::feature_alpha_dropout", "train"},
    {"aten::feature_dropout_", "train"},
    {"aten::alpha_dropout_", "train"},
    {"aten::feature_alpha_dropout_", "train"},
    {"aten::rrelu", "training"},
    {"aten::rrelu_", "training"},
    {"aten::lstm", "train"},
    {"aten::gru", "train"},
    {"aten::rnn_tanh", "train"},
    {"aten::rnn_relu", "train"},
}};

const Switched* find_switched(const torch::jit::Node* node) {
  const std::string_view kind = node->kind().toQualString();
  const auto* const found = std::ranges::find(kSwitched, kind, &Switched::kind);
  return found == kSwitched.end() ? nullptr : found;
}

/// Returns the place of an operator's input of that name.
std::optional<std::size_t> input_named(const torch::jit::Node* node, std::string_view name) {
  const c10::FunctionSchema* const schema = node->maybeSchema();
  if (schema == nullptr) return std::nullopt;
  const auto index = schema->argumentIndexWithName(std::string(name));
  if (!index || static_cast<std::size_t>(*index) >= node->inputs().size()) return std::nullopt;
  return static_cast<std::size_t>(*index);
}

std::optional<std::size_t> training_input(const torch::jit::Node* node) {
  const Switched* const found = find_switched(node);
  return found == nullptr ? std::nullopt : input_named(node, found->input);
}

/// Returns whether a norm has statistics that its momentum, a constant 0, never changes.
bool never_changes_its_statistics(const torch::jit::Node* node) {
  if (node->kind() != c10::Symbol::fromQualString("aten::batch_norm")) return false;
  const auto mean = input_named(node, "running_mean");
  const auto momentum = input_named(node, "momentum");
  if (!mean || !momentum || node->input(*mean)->mustBeNone()) return false;
  const auto value = torch::jit::toIValue(node->input(*momentum));
  return value && value->isDouble() && value->toDouble() == 0;
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

Expected<> check_trainable(const torch::jit::Graph& graph,
                           const std::function<bool(const std::string& path)>& is_frozen) {
  Expected<> checked;
  for_each_node(const_cast<torch::jit::Graph&>(graph).block(), [&](torch::jit::Node* node) {
    if (!checked || !never_changes_its_statistics(node) || is_frozen(node->scopeName())) return;
    checked =
        fail(ErrorCode::kInvalidArgument,
             "the batch norm {} has a momentum of 0, which is how a file keeps momentum=None: "
             "its statistics would never change. Give it a momentum, or freeze it (--freeze)",
             node->scopeName());
  });
  return checked;
}

torch::jit::Code compile_graph(const std::shared_ptr<torch::jit::Graph>& graph, const char* name) {
  insert_stop_checks(*graph);
  insert_write_counts(*graph);
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
    const Switched* const switched = find_switched(node);
    draws = draws || node->isNondeterministic() || (switched != nullptr && switched->draws);
  });
  return draws;
}

}  // namespace pareto::runtime
