#include "partitioner/model/graph/graph_runner.h"

#include <optional>

#include "partitioner/model/graph/flat_graph.h"
#include "partitioner/model/graph/unread_layers.h"

namespace pareto::model {

using torch::jit::Block;
using torch::jit::Node;
namespace jit = torch::jit;

/// The way one node runs: by its Operation, or, if the interpreter itself knows it (lists, tuples,
/// …), by a graph of its own.
struct GraphRunner::Step {
  std::optional<torch::jit::Operation> operation;
  bool is_vararg = false;
  std::optional<torch::jit::Code> code;
  std::vector<jit::Value*> inputs;
};

GraphRunner::GraphRunner(std::shared_ptr<torch::jit::Graph> graph)
    : graph_(std::move(graph)), operators_(operators_of(*graph_)), dead_after_(operators_.size()) {
  std::unordered_map<jit::Value*, std::size_t> last_use;
  for (std::size_t i = 0; i < operators_.size(); ++i) {
    for (jit::Value* output : operators_[i]->outputs()) last_use[output] = i;
    for (jit::Value* input : outer_inputs(operators_[i])) last_use[input] = i;
  }
  for (jit::Value* output : graph_->outputs()) last_use.erase(output);
  for (const auto& [value, position] : last_use) dead_after_[position].push_back(value);
}

GraphRunner::~GraphRunner() = default;

std::vector<c10::IValue> GraphRunner::run(std::vector<c10::IValue> inputs,
                                          const Observer& observer) {
  TORCH_CHECK(inputs.size() == graph_->inputs().size(), "wrong number of inputs");
  values_.clear();
  observer_ = &observer;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    values_[graph_->inputs()[i]] = std::move(inputs[i]);
  }
  for (position_ = 0; position_ < operators_.size(); ++position_) {
    run_node(operators_[position_]);
    for (jit::Value* value : dead_after_[position_]) values_.erase(value);
  }
  std::vector<c10::IValue> outputs;
  for (jit::Value* output : graph_->outputs()) outputs.push_back(get(output));
  values_.clear();
  return outputs;
}

const c10::IValue& GraphRunner::get(jit::Value* value) {
  if (!is_constant(value)) return values_.at(value);
  const auto [entry, is_new] = constants_.try_emplace(value);
  if (is_new) {
    const auto constant = torch::jit::toIValue(value);
    TORCH_CHECK(constant, "a constant that cannot be read");
    entry->second = *constant;
  }
  return entry->second;
}

void GraphRunner::run_block(Block* block) {
  for (Node* node : block->nodes()) {
    if (node->kind() != c10::prim::Constant) run_node(node);
  }
}

void GraphRunner::run_loop(Node* node) {
  Block* body = node->blocks()[0];
  const std::int64_t most = get(node->input(0)).toInt();
  bool goes_on = get(node->input(1)).toBool();
  std::vector<c10::IValue> carried;
  for (std::size_t i = 2; i < node->inputs().size(); ++i) carried.push_back(get(node->input(i)));
  for (std::int64_t trip = 0; trip < most && goes_on; ++trip) {
    values_[body->inputs()[0]] = trip;
    for (std::size_t i = 0; i < carried.size(); ++i) values_[body->inputs()[i + 1]] = carried[i];
    run_block(body);
    goes_on = get(body->outputs()[0]).toBool();
    for (std::size_t i = 0; i < carried.size(); ++i) carried[i] = get(body->outputs()[i + 1]);
  }
  for (std::size_t i = 0; i < carried.size(); ++i) values_[node->outputs()[i]] = carried[i];
}

void GraphRunner::run_node(Node* node) {
  if (node->kind() == c10::prim::Loop) {
    run_loop(node);
  } else if (node->kind() == c10::prim::If) {
    Block* taken = node->blocks()[get(node->input()).toBool() ? 0 : 1];
    run_block(taken);
    for (std::size_t i = 0; i < node->outputs().size(); ++i) {
      values_[node->outputs()[i]] = get(taken->outputs()[i]);
    }
  } else {
    std::vector<c10::IValue> inputs;
    for (jit::Value* input : node->inputs()) inputs.push_back(get(input));
    const auto outputs = run_step(node, inputs);
    if (*observer_) (*observer_)(position_, node, inputs, outputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) values_[node->outputs()[i]] = outputs[i];
    return;
  }
  if (node->owningBlock() == graph_->block() && *observer_) {
    std::vector<c10::IValue> outputs;
    for (jit::Value* output : node->outputs()) outputs.push_back(get(output));
    (*observer_)(position_, node, {}, outputs);
  }
}

std::vector<c10::IValue> GraphRunner::run_step(Node* node, const std::vector<c10::IValue>& inputs) {
  if (skips_layers_) {
    if (auto zeros = zeros_of_layer(node, inputs)) return {*std::move(zeros)};
  }
  std::unique_ptr<Step>& step = steps_[node];
  if (!step) {
    step = std::make_unique<Step>();
    const torch::jit::Operator* op = node->maybeOperator();
    if (!node->kind().is_prim() && node->kind() != c10::aten::wait && op != nullptr &&
        op->hasOperation()) {
      step->operation = op->getOperation(node);
      step->is_vararg = op->schema().is_vararg();
    } else {
      GraphCut cut;
      step->inputs = outer_inputs(node);
      std::erase_if(step->inputs, is_constant);
      for (jit::Value* input : step->inputs) cut.add_input(input);
      cut.add_node(node);
      for (jit::Value* output : node->outputs()) cut.graph()->registerOutput(cut.get(output));
      step->code.emplace(cut.graph(), "step");
    }
  }
  torch::jit::Stack stack;
  if (step->operation) {
    stack = inputs;
    if (step->is_vararg) stack.emplace_back(static_cast<std::int64_t>(inputs.size()));
    (*step->operation)(stack);
  } else {
    for (jit::Value* input : step->inputs) stack.push_back(get(input));
    torch::jit::InterpreterState(*step->code).run(stack);
  }
  TORCH_CHECK(stack.size() == node->outputs().size(), node->kind().toQualString(), " returned ",
              stack.size(), " values");
  return stack;
}

}  // namespace pareto::model
