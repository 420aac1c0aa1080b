#include <span>
#include <unordered_set>
#include <utility>

#include "partitioner/model/graph/examine.h"
#include "partitioner/model/graph/example_runs.h"
#include "partitioner/model/graph/flat_graph.h"
#include "partitioner/model/graph/flatten.h"
#include "partitioner/model/graph/graph_runner.h"
#include "partitioner/model/graph/unread_layers.h"

namespace pareto::model {
namespace {

using torch::jit::Node;

/// Returns whether a node writes in place, by its name; lists, too, are added to by operators of
/// such names. Not what draws random numbers: two that return new tensors would be taken for one.
bool writes_in_place(const Node* node) {
  const c10::FunctionSchema* schema = node->maybeSchema();
  return schema != nullptr && schema->is_mutable() && schema->name().ends_with('_') &&
         !schema->argumentIndexWithName("generator");
}

/// Returns whether the operator that returns a new tensor, in place of one that writes to its first
/// input, returns one of that input's type: others promote, or have a type of their own.
bool keeps_type(const Node* node, std::span<const c10::IValue> inputs) {
  const auto graph = std::make_shared<torch::jit::Graph>();
  std::vector<torch::jit::Value*> arguments;
  for (const torch::jit::Value* input : node->inputs()) {
    arguments.push_back(graph->addInput()->setType(input->type()));
  }
  std::string kind = node->kind().toQualString();
  kind.pop_back();
  Node* fresh = graph->insertNode(graph->create(c10::Symbol::fromQualString(kind), arguments));
  if (fresh->maybeOperator() == nullptr) return false;
  graph->registerOutput(fresh->output());
  torch::jit::Stack stack(inputs.begin(), inputs.end());
  try {
    torch::jit::InterpreterState(torch::jit::Code(graph, "fresh")).run(stack);
  } catch (const std::exception&) {
    return false;
  }
  return !inputs[0].isTensor() || (stack[0].isTensor() && stack[0].toTensor().scalar_type() ==
                                                              inputs[0].toTensor().scalar_type());
}

}  // namespace

Expected<> remove_writes(Flat& flat, const std::vector<InputShape>& shapes,
                         const std::vector<std::int64_t>& batches) {
  bool writes = false;
  for_each_node(flat.graph->block(),
                [&](const Node* node) { writes = writes || writes_in_place(node); });
  if (!writes) return {};
  std::unordered_set<const Node*> keeping;
  std::unordered_set<const Node*> changing;
  const auto note = [&](std::size_t, Node* node, auto in, auto) {
    if (writes_in_place(node)) (keeps_type(node, in) ? keeping : changing).insert(node);
  };
  for (const Attempt& attempt : attempts(shapes, batches)) {
    try {
      const torch::NoGradGuard no_grad;
      PARETO_ASSIGN(auto arguments, arguments_at(flat, shapes, attempt.front(), kExampleSeed));
      GraphRunner runner(flat.graph);
      runner.skip_layers(may_skip_layers(*flat.graph, shapes));
      runner.run(std::move(arguments), note);
      break;
    } catch (const std::exception&) {
      // Where it runs at no batch, examining it says why.
    }
  }
  std::erase_if(keeping, [&](const Node* node) { return changing.contains(node); });
  try {
    remove_writes(flat.graph, keeping);
    lift_constants(*flat.graph, flat.weights);
    drop_unused_weights(*flat.graph, flat.weights);
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInvalidArgument, "{}", runtime::first_line(error));
  }
  return {};
}

}  // namespace pareto::model
