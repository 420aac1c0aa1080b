#include "partitioner/model/graph/example_runs.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/base/text.h"
#include "partitioner/model/graph/flat_graph.h"
#include "partitioner/model/graph/flops.h"
#include "partitioner/model/graph/layout.h"
#include "partitioner/model/graph/run_errors.h"
#include "runtime/torch/convert.h"

namespace pareto::model {
namespace {

using torch::jit::Node;

/// Returns whether a list or dict may be added to after it was made.
bool may_be_filled(const torch::jit::Value* value) {
  if (!is_container(value)) return false;
  return std::ranges::any_of(value->uses(), [&](const torch::jit::Use& use) {
    const auto* schema = use.user->maybeSchema();
    return (schema != nullptr && schema->is_mutable()) ||
           use.user->owningBlock() != value->node()->owningBlock() || !use.user->blocks().empty();
  });
}

/// Returns the smallest and the largest element of a tensor of integers or bools; none of other
/// values.
std::optional<IntegerRange> range_of(const c10::IValue& value) {
  if (!value.isTensor() || !value.toTensor().defined() || value.toTensor().numel() == 0) return {};
  const at::Tensor tensor = value.toTensor();
  if (tensor.is_quantized() || tensor.layout() != at::kStrided) return {};
  if (!c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/true)) return {};
  const at::Tensor whole = tensor.to(at::kLong);
  return IntegerRange{whole.min().item<std::int64_t>(), whole.max().item<std::int64_t>()};
}

/// Returns the first elements of a tensor of integers or bools, row by row; none of other values.
std::vector<std::int64_t> sample_of(const c10::IValue& value) {
  if (!range_of(value)) return {};
  const at::Tensor all = value.toTensor().flatten();
  const auto count = std::min(all.numel(), static_cast<std::int64_t>(kMostSampled));
  const at::Tensor first = all.narrow(0, 0, count).to(at::kLong).contiguous();
  return {first.data_ptr<std::int64_t>(), first.data_ptr<std::int64_t>() + count};
}

/// Returns the values of the graph, as Graph::values counts them.
std::unordered_map<const torch::jit::Value*, std::size_t> indices_of(const Flat& flat,
                                                                     const Graph& graph) {
  std::unordered_map<const torch::jit::Value*, std::size_t> indices;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    indices[flat.graph->inputs()[i]] = static_cast<std::size_t>(graph.inputs[i]);
  }
  const auto operators = operators_of(*flat.graph);
  for (std::size_t position = 0; position < operators.size(); ++position) {
    const auto outputs = operators[position]->outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      indices[outputs[i]] = static_cast<std::size_t>(graph.operators[position].outputs[i]);
    }
  }
  return indices;
}

/// Notes of a value that an operator has just read whether it is now another view of its memory
/// than when it was made, and is needed further on: unsqueeze_, t_, resize_.
void note_change(const Graph& graph, std::size_t position, std::size_t index,
                 const c10::IValue& value, ExampleRun& run) {
  const Expected<Value>& seen = run.seen[index];
  const auto* before = seen ? seen->get_if<Tensor>() : nullptr;
  if (before == nullptr || !value.isTensor() || !value.toTensor().defined()) return;
  const bool same =
      before->shape() == value.toTensor().sizes().vec() && run.layouts[index] == layout_of(value);
  const GraphValue& entry = graph.values[index];
  const bool needed = entry.is_output || entry.users.back() > static_cast<std::int64_t>(position);
  if (same || !needed || !run.reasons[index].empty()) return;
  run.reasons[index] = fmt::format("{} (op {}) changes its shape in place",
                                   graph.operators[position].kind, position);
}

/// Returns what an operator refuses: the sizes of inputs that have such, or else "it".
std::string refused_text(const std::vector<InputShape>& shapes) {
  const auto sizes = varying_sizes(shapes);
  return sizes && !sizes->empty() ? sizes_text(*sizes, nominal_sizes(shapes)) : "it";
}

/// Returns a remedy for sizes that an operator refuses, if people said them; "" for other reasons.
std::string size_remedy(const std::string& why, const std::vector<InputShape>& shapes) {
  static constexpr std::array<std::string_view, 4> kOfSizes{"shape", "size", "channels",
                                                            "dimension"};
  const bool is_of_sizes = std::ranges::any_of(
      kOfSizes, [&](std::string_view word) { return why.find(word) != std::string::npos; });
  const bool is_given =
      std::ranges::all_of(shapes, [](const InputShape& shape) { return shape.data.has_value(); });
  if (!is_of_sizes || is_given || has_made_up_integers(shapes)) return "";
  return " (give the sizes of one sample that it takes: --input-shape)";
}

}  // namespace

std::string operator_text(const Graph& graph, std::size_t position) {
  const Operator& op = graph.operators[position];
  return fmt::format("{} (op {}{}{})", op.kind, position, op.scope.empty() ? "" : " in ", op.scope);
}

std::vector<Attempt> attempts(const std::vector<InputShape>& shapes,
                              std::vector<std::int64_t> named) {
  if (!has_batch(shapes)) return {{1}};
  std::vector<Attempt> all{{2, 3}, {1, 2}};
  if (const auto batch = batch_of_data(shapes)) named.push_back(*batch);
  for (const std::int64_t batch : named) {
    // It may take multiples.
    all.push_back({batch, 2 * batch});
    all.push_back({batch});
  }
  for (const std::int64_t batch : kUsualBatches) all.push_back({batch});
  return all;
}

Expected<std::vector<c10::IValue>> arguments_at(const Flat& flat,
                                                const std::vector<InputShape>& shapes,
                                                std::int64_t batch, std::uint64_t seed) {
  std::vector<c10::IValue> arguments;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    PARETO_ASSIGN(const Value example, example_of(shapes[i], batch, seed + i));
    const auto value = runtime::to_ivalue(example, flat.graph->inputs()[i]->type());
    // A model may write to its input.
    arguments.emplace_back(value.toTensor().clone());
  }
  for (const FlatWeight& weight : flat.weights) arguments.emplace_back(weight.to_run());
  return arguments;
}

void ExampleRun::see(std::size_t index, const c10::IValue& value) {
  if (knows_ranges) ranges[index] = range_of(value);
  if (is_of_data) samples[index] = sample_of(value);
  seen[index] = runtime::without_bytes(value);
  layouts[index] = layout_of(value);
  if (holds_views(value)) reasons[index] = "it holds views, whose strides would not cross";
}

Expected<ExampleRun> run_at(GraphRunner& runner, const Flat& flat, const Graph& graph,
                            const std::vector<InputShape>& shapes, std::int64_t batch,
                            std::uint64_t seed, std::size_t* reached) {
  ExampleRun run;
  run.batch = batch;
  run.seen.assign(graph.values.size(), Value());
  run.layouts.resize(graph.values.size());
  run.reasons.resize(graph.values.size());
  run.flops.assign(graph.operators.size(), 0);
  run.ranges.resize(graph.values.size());
  run.samples.resize(graph.values.size());
  run.is_of_data =
      std::ranges::all_of(shapes, [](const InputShape& shape) { return shape.data.has_value(); });
  run.knows_ranges =
      std::ranges::any_of(shapes, [](const InputShape& shape) { return shape.range.has_value(); });
  const auto indices = indices_of(flat, graph);
  std::optional<std::size_t> at;
  try {
    const torch::NoGradGuard no_grad;
    PARETO_ASSIGN(auto arguments, arguments_at(flat, shapes, batch, seed));
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      run.see(static_cast<std::size_t>(graph.inputs[i]), arguments[i]);
    }
    std::vector<std::pair<std::size_t, c10::IValue>> filled;
    at = 0;
    runner.run(std::move(arguments), [&](std::size_t position, Node* node, auto in, auto out) {
      run.flops[position] += flops_of(node, in, out);
      for (std::size_t i = 0; i < in.size(); ++i) {
        const auto read = indices.find(node->input(i));
        if (read != indices.end()) note_change(graph, position, read->second, in[i], run);
      }
      if (node->owningBlock() != flat.graph->block()) return;
      at = position + 1;
      for (std::size_t i = 0; i < out.size(); ++i) {
        const std::size_t index = indices.at(node->output(i));
        run.see(index, out[i]);
        if (may_be_filled(node->output(i))) filled.emplace_back(index, out[i]);
      }
    });
    // Where they may cross, these hold what they hold in the end.
    for (const auto& [index, container] : filled) run.see(index, container);
  } catch (const std::exception& error) {
    if (reached != nullptr) *reached = at.value_or(0);
    std::string why = why_not_run(error, shapes);
    if (why == runtime::first_line(error)) why += size_remedy(why, shapes);
    const bool names = reached == nullptr && at && *at < graph.operators.size();
    return fail(ErrorCode::kInvalidArgument, "it does not run at batch {} on {}{}: {}", batch,
                describe_examples(shapes, input_names(flat), batch),
                names ? fmt::format(", because {} refuses {}", operator_text(graph, *at),
                                    refused_text(shapes))
                      : "",
                why);
  }
  return run;
}

}  // namespace pareto::model
