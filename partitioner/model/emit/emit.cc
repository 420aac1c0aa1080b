#include "partitioner/model/emit/emit.h"

#include <sstream>
#include <unordered_set>

#include "partitioner/model/graph/cuts.h"
#include "partitioner/model/graph/flat.h"
#include "partitioner/model/graph/flat_graph.h"
#include "partitioner/model/graph/layout.h"
#include "runtime/torch/compat.h"

namespace pareto::model {
namespace {

using torch::jit::Node;
namespace jit = torch::jit;

/// The module of one shard: weights as attributes under their flat dotted names, and the method
/// "run".
class ShardModule {
 public:
  explicit ShardModule(const Model& model)
      : flat_(model.flat()), graph_(model.graph()), module_("__torch__.pareto.Shard") {
    self_ = cut_.graph()->addInput("self");
    self_->setType(module_._ivalue()->type());
    const auto inputs = flat_.graph->inputs();
    for (std::size_t i = 0; i < flat_.model_inputs; ++i) values_.push_back(inputs[i]);
    operators_ = operators_of(*flat_.graph);
    for (Node* node : operators_) {
      values_.insert(values_.end(), node->outputs().begin(), node->outputs().end());
    }
    // Freezing asks for it.
    module_.register_attribute("training", c10::BoolType::get(), false);
  }

  /// Builds the operators between two boundaries given as indices into Graph::values. Returns the
  /// weights they read, as indices into Graph::weights, in order of use.
  std::vector<std::int64_t> build(const plan::ShardOperators& operators,
                                  const std::vector<std::int64_t>& inputs,
                                  const std::vector<std::int64_t>& outputs) {
    for (const std::int64_t index : inputs) {
      jit::Value* fresh = cut_.add_input(values_[static_cast<std::size_t>(index)]);
      fresh_inputs_.emplace_back(index, fresh);
    }
    if (!operators.before.empty()) restore_layouts();
    for (const std::int64_t i : operators_in(operators.own)) {
      const auto at = static_cast<std::size_t>(i);
      for (const std::int64_t weight : graph_.operators[at].weights) add_weight(weight);
      cut_.add_node(operators_[at]);
    }
    std::vector<jit::Value*> results;
    for (const std::int64_t index : outputs) {
      const auto at = static_cast<std::size_t>(index);
      jit::Value* result = cut_.get(values_[at]);
      const auto& order = graph_.values[at].layout.order;
      if (!order.empty() && operators.end() < static_cast<std::int64_t>(operators_.size())) {
        result = cut_.graph()->insert(c10::aten::permute, {result, order});
      }
      results.push_back(result);
    }
    Node* tuple = cut_.graph()->insertNode(cut_.graph()->createTuple(results));
    cut_.graph()->registerOutput(tuple->output());
    module_.register_attribute("prologue", c10::IntType::get(), prologue_);
    return weights_;
  }

  /// Size of the packed weights that the built operators read.
  std::uint64_t packed_bytes() const { return packed_bytes_; }

  std::string save() {
    const auto type = module_.type();
    const c10::QualifiedName name(*type->name(), "run");
    type->addMethod(module_._ivalue()->compilation_unit()->create_function(name, cut_.graph()));
    std::ostringstream bytes;
    module_.save(bytes);
    return std::move(bytes).str();
  }

 private:
  void add_weight(std::int64_t index) {
    const auto at = static_cast<std::size_t>(index);
    if (!added_.insert(index).second) return;
    if (graph_.weights[at].is_packed) {  // a constant of the code
      packed_bytes_ += graph_.weights[at].size_bytes;
      return;
    }
    jit::Value* old = flat_.graph->inputs()[flat_.model_inputs + at];
    const FlatWeight& weight = flat_.weights[at];
    module_.register_attribute(weight.name, c10::TensorType::get(),
                               at::empty({0}, weight.tensor.scalar_type()), weight.is_parameter,
                               !weight.is_parameter);
    cut_.stand_in(old, cut_.graph()->insertGetAttr(self_, weight.name));
    weights_.push_back(index);
  }

  /// Restores strides: what arrives dense and in the order of memory gets its own back.
  void restore_layouts() {
    for (const auto& [index, fresh] : fresh_inputs_) {
      const auto at = static_cast<std::size_t>(index);
      cut_.stand_in(values_[at],
                    restore_layout(*cut_.graph(), fresh, graph_.values[at].layout, prologue_));
    }
  }

  const Flat& flat_;
  const Graph& graph_;
  torch::jit::Module module_;
  GraphCut cut_;
  jit::Value* self_ = nullptr;
  std::vector<Node*> operators_;
  std::vector<jit::Value*> values_;                                 // by Graph::values
  std::vector<std::pair<std::int64_t, jit::Value*>> fresh_inputs_;  // by index into Graph::values
  std::int64_t prologue_ = 0;
  std::unordered_set<std::int64_t> added_;
  std::vector<std::int64_t> weights_;
  std::uint64_t packed_bytes_ = 0;
};

Expected<> check_cut_of(const Model& model, const plan::OperatorRanges& before) {
  const auto operators = static_cast<std::int64_t>(model.graph().operators.size());
  if (plan::count_of(before) == operators && before.size() == 1) return {};
  if (before.size() == 1 && before.front().begin == 0) {
    const std::int64_t position = before.front().end;
    const SplitPoint& point = model.split_points()[static_cast<std::size_t>(position - 1)];
    if (point.legal) return {};
    return fail(ErrorCode::kInvalidArgument, "no cut at {}: {}", point.name, point.reason);
  }
  return with_context(check_cut(model.graph(), before), "no cut at {}", cut_name(before));
}

/// Checks both cuts, and that what lies between them is there and not there twice.
Expected<> check_operators(const Model& model, const plan::ShardOperators& operators) {
  const auto all = static_cast<std::int64_t>(model.graph().operators.size());
  for (const plan::OperatorRanges* ranges : {&operators.before, &operators.own}) {
    for (const plan::OperatorRange& range : *ranges) {
      if (range.begin < 0 || range.begin >= range.end || range.end > all) {
        return fail(ErrorCode::kInvalidArgument, "operators [{}, {}) of a model that has {}",
                    range.begin, range.end, all);
      }
    }
  }
  const plan::OperatorRanges after = operators.with_own();
  if (operators.own.empty() || plan::count_of(after) != operators.end()) {
    return fail(ErrorCode::kInvalidArgument, "operators {} after {}", to_string(operators.own),
                to_string(operators.before));
  }
  PARETO_TRY(check_cut_of(model, operators.before));
  return check_cut_of(model, after);
}

Expected<plan::Shard> emit(const Model& model, const plan::ShardOperators& operators) {
  PARETO_TRY(check_operators(model, operators));
  const Graph& graph = model.graph();
  const plan::OperatorRanges after = operators.with_own();
  plan::Shard shard;
  shard.model = model.name();
  shard.begin = operators.begin();
  shard.end = operators.end();
  shard.inputs = boundary(graph, operators.before);
  shard.outputs = boundary(graph, after);
  shard.torch_version = runtime::torch_version();
  for (const std::int64_t i : operators_in(operators.own)) {
    shard.scopes.push_back(graph.operators[static_cast<std::size_t>(i)].scope);
  }
  try {
    ShardModule module(model);
    const auto used =
        module.build(operators, live_values(graph, operators.before), live_values(graph, after));
    const auto& digests = model.weight_digests();
    for (const std::int64_t index : used) {
      const auto at = static_cast<std::size_t>(index);
      const GraphWeight& weight = graph.weights[at];
      shard.weights.push_back(
          {weight.name, digests[at], weight.dtype, weight.shape, weight.is_parameter});
    }
    shard.packed_bytes = module.packed_bytes();
    shard.archive = module.save();
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInternal, "{}", runtime::first_line(error));
  }
  return shard;
}

}  // namespace

Expected<plan::Shard> emit_shard(const Model& model, const plan::ShardOperators& operators) {
  return with_context(emit(model, operators), "emitting operators {} of {}",
                      to_string(operators.own), model.name());
}

Expected<plan::Shard> emit_shard(const Model& model, std::int64_t begin, std::int64_t end) {
  return emit_shard(model, plan::ShardOperators::between(begin, end));
}

}  // namespace pareto::model
