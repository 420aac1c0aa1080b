#include "partitioner/model/graph/example_specs.h"

#include <algorithm>
#include <unordered_set>

#include "partitioner/model/graph/layout.h"

namespace pareto::model {
namespace {

std::optional<IntegerRange> join_ranges(const std::optional<IntegerRange>& a,
                                        const std::optional<IntegerRange>& b) {
  if (!a || !b) return a ? a : b;
  return IntegerRange{std::min(a->low, b->low), std::max(a->high, b->high)};
}

/// Returns whether a reason is of dimensions that differ from batch to batch, or with the sizes of
/// the inputs.
bool is_of_sizes(const std::string& reason) {
  return reason.find(" at batch ") != std::string::npos ||
         reason.find(" size ") != std::string::npos;
}

bool is_layer(const std::string& kind) {
  static const std::unordered_set<std::string> kLayers{
      "aten::_convolution",
      "aten::adaptive_avg_pool2d",
      "aten::adaptive_max_pool2d",
      "aten::add",
      "aten::avg_pool2d",
      "aten::batch_norm",
      "aten::cat",
      "aten::conv2d",
      "aten::dropout",
      "aten::elu",
      "aten::feature_dropout",
      "aten::flatten",
      "aten::gelu",
      "aten::hardsigmoid",
      "aten::hardswish",
      "aten::hardtanh",
      "aten::layer_norm",
      "aten::leaky_relu",
      "aten::linear",
      "aten::log_softmax",
      "aten::max_pool2d",
      "aten::mul",
      "aten::relu",
      "aten::relu6",
      "aten::sigmoid",
      "aten::silu",
      "aten::softmax",
      "aten::tanh",
      "prim::ListConstruct",
      "prim::TupleConstruct",
  };
  return kLayers.contains(kind.ends_with('_') ? kind.substr(0, kind.size() - 1) : kind);
}

/// Returns whether every tensor of a value has the batch as its first dimension and nowhere else.
bool has_batch_in_front(const ValueSpec& spec) {
  const auto tensors = tensors_of(spec);
  return !tensors.empty() && std::ranges::all_of(tensors, [](const TensorSpec& tensor) {
    return !tensor.dims.empty() && tensor.dims.front() == SymbolicDim{0, 1} &&
           std::all_of(tensor.dims.begin() + 1, tensor.dims.end(),
                       [](const SymbolicDim& dim) { return dim.per_sample == 0; });
  });
}

}  // namespace

bool treats_samples_alike(const Graph& graph) {
  return std::ranges::all_of(
             graph.operators,
             [](const Operator& op) { return is_layer(op.kind) && op.inner_operators == 0; }) &&
         std::ranges::all_of(
             graph.values, [](const GraphValue& value) { return has_batch_in_front(value.spec); });
}

std::vector<std::string> add_specs(const std::vector<ExampleRun>& runs, Graph& graph) {
  std::vector<std::string> reasons(graph.values.size());
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const Expected<Value>& first = runs.front().seen[i];
    const Expected<Value>& last = runs.back().seen[i];
    if (!first || !last) {
      reasons[i] = (first ? last : first).error().message;
      continue;
    }
    auto joined = join_specs(*first, runs.front().batch, *last, runs.back().batch);
    graph.values[i].spec = joined ? *joined : spec_of(*first);
    reasons[i] = joined ? runs.back().reasons[i] : joined.error().message;
    graph.values[i].spec.range = join_ranges(runs.front().ranges[i], runs.back().ranges[i]);
    graph.values[i].spec.sample = runs.back().samples[i];
    graph.values[i].layout = join_layouts(runs.front().layouts[i], runs.back().layouts[i]);
  }
  return reasons;
}

void check_specs(const ExampleRun& run, const Graph& graph, std::vector<std::string>& reasons) {
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    if (!reasons[i].empty() || !run.seen[i]) continue;
    const auto checked = check_spec(graph.values[i].spec, *run.seen[i], run.batch);
    if (!checked) reasons[i] = checked.error().message;
  }
}

void name_makers(const Graph& graph, std::vector<std::string>& reasons) {
  std::vector<std::int64_t> maker(graph.values.size(), -1);
  for (std::size_t position = 0; position < graph.operators.size(); ++position) {
    const Operator& op = graph.operators[position];
    std::int64_t first = static_cast<std::int64_t>(position);
    for (const std::int64_t input : op.inputs) {
      const std::int64_t before = maker[static_cast<std::size_t>(input)];
      if (before >= 0) first = std::min(first, before);
    }
    const Operator& made_by = graph.operators[static_cast<std::size_t>(first)];
    for (const std::int64_t output : op.outputs) {
      const auto at = static_cast<std::size_t>(output);
      if (!is_of_sizes(reasons[at])) continue;
      maker[at] = first;
      reasons[at] += fmt::format(" (made by {}, op {}{}{})", made_by.kind, first,
                                 made_by.scope.empty() ? "" : " in ", made_by.scope);
    }
  }
}

}  // namespace pareto::model
