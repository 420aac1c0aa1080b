#include "partitioner/model/graph/graph_builder.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "partitioner/model/graph/flat_graph.h"
#include "partitioner/model/graph/flatten.h"
#include "partitioner/model/graph/packed_weights.h"
#include "runtime/torch/convert.h"

namespace pareto::model {
namespace {

using torch::jit::Node;

/// Returns what stands for the argument of that name; null if the operator has none.
const torch::jit::Value* argument(const Node* node, const std::string& name) {
  const c10::FunctionSchema* schema = node->maybeSchema();
  if (schema == nullptr) return nullptr;
  const auto index = schema->argumentIndexWithName(name);
  return index ? node->input(static_cast<std::size_t>(*index)) : nullptr;
}

/// Returns whether a flag is on, or a share above 0; `unknown` if there is none, or if the graph
/// computes it.
bool is_above_zero(const Node* node, std::initializer_list<const char*> names, bool unknown) {
  for (const char* name : names) {
    const torch::jit::Value* value = argument(node, name);
    if (value == nullptr) continue;
    const auto constant = torch::jit::toIValue(value);
    if (!constant) continue;
    if (constant->isBool()) return constant->toBool();
    if (constant->isDouble() || constant->isInt()) return constant->toScalar().toDouble() > 0;
  }
  return unknown;
}

/// Returns whether it was saved in training mode, and computes otherwise for it.
bool trains(const Node* node) {
  if (is_above_zero(node, {"dropout_p"}, false)) return true;
  if (!is_above_zero(node, {"train", "training"}, false)) return false;
  // Without statistics of its own a norm takes the batch's in any mode.
  const torch::jit::Value* mean = argument(node, "running_mean");
  if (mean != nullptr && mean->mustBeNone()) return false;
  return is_above_zero(node, {"p", "dropout"}, true);
}

/// Returns whether it draws random numbers.
bool draws(const Node* node) {
  if (node->isNondeterministic()) return true;
  const c10::FunctionSchema* schema = node->maybeSchema();
  if (schema == nullptr) return false;
  if (schema->name().find("dropout") != std::string::npos) return trains(node);
  // rrelu_ and the like draw only as they train.
  return schema->argumentIndexWithName("generator").has_value() &&
         is_above_zero(node, {"training"}, true);
}

class GraphBuilder {
 public:
  explicit GraphBuilder(const Flat& flat) : flat_(flat) {}

  Expected<Graph> run() {
    graph_.model = flat_.model;
    const auto inputs = flat_.graph->inputs();
    if (inputs.size() != flat_.model_inputs + flat_.weights.size()) {
      return fail(ErrorCode::kInternal, "{} inputs stand for {} inputs and {} weights",
                  inputs.size(), flat_.model_inputs, flat_.weights.size());
    }
    for (std::size_t i = 0; i < flat_.model_inputs; ++i) {
      graph_.inputs.push_back(add_value(inputs[i], -1));
    }
    for (std::size_t i = 0; i < flat_.weights.size(); ++i) {
      PARETO_TRY(add_weight(flat_.weights[i]));
      weights_[inputs[flat_.model_inputs + i]] = static_cast<std::int64_t>(i);
    }
    // Made without a thought of training: all parameters can be trained.
    if (std::ranges::none_of(graph_.weights, &GraphWeight::is_trainable)) {
      for (GraphWeight& weight : graph_.weights) weight.is_trainable = weight.is_parameter;
    }
    for (Node* node : operators_of(*flat_.graph)) PARETO_TRY(add_operator(node));
    for (const torch::jit::Value* output : flat_.graph->outputs()) {
      const auto found = values_.find(output);
      if (found == values_.end()) {
        return fail(ErrorCode::kInvalidArgument, "the model returns a constant or a weight");
      }
      graph_.outputs.push_back(found->second);
      graph_.values[static_cast<std::size_t>(found->second)].is_output = true;
    }
    tell_training_apart();
    if (graph_.operators.empty()) return fail(ErrorCode::kInvalidArgument, "the model is empty");
    return std::move(graph_);
  }

 private:
  std::int64_t add_value(const torch::jit::Value* value, std::int64_t producer) {
    GraphValue entry;
    entry.name = value->debugName();
    entry.producer = producer;
    const auto index = static_cast<std::int64_t>(graph_.values.size());
    graph_.values.push_back(std::move(entry));
    values_[value] = index;
    return index;
  }

  Expected<> add_weight(const FlatWeight& weight) {
    const auto dtype = runtime::from_scalar_type(weight.tensor.scalar_type());
    if (!dtype || weight.tensor.layout() != c10::kStrided) {
      return fail(ErrorCode::kInvalidArgument,
                  "weight {} is a {}; quantised and sparse models cannot be cut", weight.name,
                  weight.tensor.toString());
    }
    graph_.weights.push_back({weight.name, *dtype, weight.tensor.sizes().vec(), weight.is_parameter,
                              weight.tensor.nbytes(), weight.is_written, /*is_packed=*/false,
                              weight.is_trainable});
    return {};
  }

  /// Notes the weight of a quantised layer that an operator takes as a constant.
  void add_packed(const c10::IValue& packed, Operator& op) {
    const auto [known, is_new] = packed_.try_emplace(
        packed.toObject().get(), static_cast<std::int64_t>(graph_.weights.size()));
    if (is_new) {
      GraphWeight weight;
      weight.name =
          fmt::format("{}{}packed.{}", op.scope, op.scope.empty() ? "" : ".", packed_.size() - 1);
      weight.dtype = DType::kInt8;
      weight.is_packed = true;
      for (const at::Tensor& tensor : packed_tensors(packed)) weight.size_bytes += tensor.nbytes();
      weight.shape = {static_cast<std::int64_t>(weight.size_bytes)};
      graph_.weights.push_back(std::move(weight));
    }
    if (std::ranges::find(op.weights, known->second) == op.weights.end()) {
      op.weights.push_back(known->second);
    }
  }

  /// Notes the same of the constants of a list that an operator takes.
  void add_packed(const torch::jit::Value* input, Operator& op) {
    const auto constant = torch::jit::toIValue(input);
    if (!constant) return;
    constant->visit([&](const c10::IValue& part) {
      if (part.isCustomClass()) add_packed(part, op);
      return part.isCustomClass();
    });
  }

  Expected<> add_operator(Node* node) {
    try {
      note_operator(node);
      return {};
    } catch (const std::exception& error) {
      return fail(ErrorCode::kInvalidArgument, "{}: {}", node->kind().toQualString(),
                  runtime::first_line(error));
    }
  }

  void note_operator(Node* node) {
    const auto position = static_cast<std::int64_t>(graph_.operators.size());
    Operator op;
    op.kind = node->kind().toQualString();
    op.scope = scope_path(node);
    for (const torch::jit::Value* input : outer_inputs(node)) {
      if (is_constant(input)) {
        add_packed(input, op);
      } else if (const auto weight = weights_.find(input); weight != weights_.end()) {
        op.weights.push_back(weight->second);
      } else if (const auto value = values_.find(input); value != values_.end()) {
        op.inputs.push_back(value->second);
        graph_.values[static_cast<std::size_t>(value->second)].users.push_back(position);
      }
    }
    for (const torch::jit::Value* output : node->outputs()) {
      op.outputs.push_back(add_value(output, position));
    }
    op.uses_random = node->isNondeterministic() || node->hasSideEffects();
    op.steps = constant_steps(node).value_or(0);
    note_training(node, op);
    for (torch::jit::Block* block : node->blocks()) {
      for_each_node(block, [&](Node* inner) {
        if (inner->kind() != c10::prim::Constant) ++op.inner_operators;
        op.uses_random = op.uses_random || inner->isNondeterministic();
        note_training(inner, op);
      });
    }
    graph_.operators.push_back(std::move(op));
  }

  /// If something else was in training mode when the file was saved, so were calls of F.dropout.
  void tell_training_apart() {
    if (std::ranges::none_of(graph_.operators, &Operator::trains)) return;
    for (Operator& op : graph_.operators) {
      op.trains = op.trains || std::exchange(op.always_drops, false);
    }
  }

  void note_training(Node* node, Operator& op) const {
    op.is_random = op.is_random || draws(node);
    if (!trains(node)) return;
    // In a file that says `training=self.training` eval() has switched it off.
    const std::string kind = node->kind().toUnqualString();
    const bool of_function = flat_.from_file && kind.find("dropout") != std::string::npos &&
                             !flat_.dropouts.contains(scope_path(node));
    (of_function ? op.always_drops : op.trains) = true;
  }

  const Flat& flat_;
  Graph graph_;
  std::unordered_map<const c10::ivalue::Object*, std::int64_t> packed_;
  std::unordered_map<const torch::jit::Value*, std::int64_t> values_;
  std::unordered_map<const torch::jit::Value*, std::int64_t> weights_;
};

}  // namespace

Expected<Graph> build_graph(const Flat& flat) { return GraphBuilder(flat).run(); }

}  // namespace pareto::model
