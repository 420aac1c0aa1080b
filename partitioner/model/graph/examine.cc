#include "partitioner/model/graph/examine.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/base/counted.h"
#include "core/base/text.h"
#include "core/runtime/torch/convert.h"
#include "partitioner/model/graph/flat_graph.h"
#include "partitioner/model/graph/flatten.h"
#include "partitioner/model/graph/flops.h"
#include "partitioner/model/graph/graph_builder.h"
#include "partitioner/model/graph/graph_runner.h"
#include "partitioner/model/graph/groups.h"
#include "partitioner/model/graph/hazards.h"
#include "partitioner/model/graph/layout.h"

namespace pareto::model {
namespace {

using torch::jit::Node;

constexpr std::uint64_t kSeed = 0;
constexpr std::uint64_t kOtherSeed = 1000;

/// Returns the same tree with tensors that have a shape and no bytes.
Value without_bytes(const Value& value) {
  if (const auto* tensor = value.get_if<Tensor>()) {
    auto empty = Tensor::borrow(tensor->dtype(), tensor->shape(), nullptr, nullptr);
    return empty ? Value(*std::move(empty)) : value;
  }
  const auto all = [](const std::vector<Value>& items) {
    std::vector<Value> result;
    for (const Value& item : items) result.push_back(without_bytes(item));
    return result;
  };
  if (const auto* list = value.get_if<List>()) return List{all(list->items)};
  if (const auto* tuple = value.get_if<Tuple>()) return Tuple{all(tuple->items)};
  if (const auto* dict = value.get_if<Dict>()) {
    Dict result;
    for (const auto& [key, item] : dict->items) {
      result.items.emplace_back(key, without_bytes(item));
    }
    return result;
  }
  return value;
}

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

/// The values of a run at one batch.
struct Run {
  std::int64_t batch = 0;
  std::vector<Expected<Value>> seen;  // by Graph::values
  std::vector<MemoryLayout> layouts;
  std::vector<std::string> reasons;  // why a value cannot cross, or ""
  std::vector<double> flops;         // by operator
  bool knows_ranges = false;         // zeros would say nothing of what else there may be
  std::vector<std::optional<IntegerRange>> ranges;
  bool is_of_data = false;  // no input was made up
  std::vector<std::vector<std::int64_t>> samples;

  void see(std::size_t index, const c10::IValue& value) {
    if (knows_ranges) ranges[index] = range_of(value);
    if (is_of_data) samples[index] = sample_of(value);
    seen[index] = runtime::from_ivalue(value).map(without_bytes);
    layouts[index] = layout_of(value);
    if (holds_views(value)) reasons[index] = "it holds views, whose strides would not cross";
  }
};

/// Arguments of the flat graph: examples of its inputs, and its weights. May throw what LibTorch
/// throws.
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
                 const c10::IValue& value, Run& run) {
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

/// Returns the name that an input has in the model's code: LibTorch adds ".1" to some.
std::string input_name(const torch::jit::Value* input) {
  std::string name = input->debugName();
  const std::size_t dot = name.find_last_not_of("0123456789");
  if (dot != std::string::npos && dot > 0 && dot + 1 < name.size() && name[dot] == '.') {
    name.resize(dot);
  }
  return name;
}

std::vector<std::string> input_names(const Flat& flat) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < flat.model_inputs; ++i) {
    names.push_back(input_name(flat.graph->inputs()[i]));
  }
  return names;
}

/// Says what the model was run on, and what may be wrong with it. `names`: those of its inputs.
std::string describe_examples(const std::vector<InputShape>& shapes,
                              const std::vector<std::string>& names, std::int64_t batch) {
  std::vector<std::string> examples;
  bool doubles = false;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const InputShape& shape = shapes[i];
    examples.push_back(fmt::format("{}{}[{}]", shapes.size() > 1 ? names[i] + " = " : "",
                                   to_string(shape.dtype),
                                   to_string(input_spec(shape).tensor.shape(batch))));
    doubles = doubles || (shape.data && shape.dtype == DType::kFloat64);
  }
  std::string text = join(examples, " and ");
  if (has_made_up_integers(shapes)) {
    text +=
        " (example integers are zeros, and bools true: give your data, --input FILE.npy, or a "
        "range, as in --input-shape \"7:int64=1..39\")";
  }
  if (doubles) text += " (float64 is what NumPy makes if nothing is said: x.astype('float32'))";
  return text;
}

/// Returns what may be wrong with shapes that a model does not run on, or nothing. `line`: what
/// LibTorch says.
std::string shape_hint(const std::string& line, const std::vector<InputShape>& shapes) {
  const auto says = [&](std::string_view part) { return line.find(part) != std::string::npos; };
  const auto find = [&](auto is_it) {
    const auto found = std::ranges::find_if(shapes, is_it);
    return found == shapes.end() ? nullptr : &*found;
  };
  const auto flag = [](const InputShape& shape) { return "--input-shape " + to_text({shape}); };
  if (says("scalar types: Long, Int")) {
    const auto* real = find([](const auto& shape) { return shape.dtype == DType::kFloat32; });
    if (real == nullptr) return {};
    InputShape whole = *real;
    whole.dtype = DType::kInt64;
    whole.data.reset();
    return fmt::format(" (an input of whole numbers is needed, as in {})", flag(whole));
  }
  if (says("index out of range")) {
    const auto* ranged = find([](const auto& shape) { return shape.range && !shape.data; });
    if (ranged == nullptr) return {};
    InputShape smaller = *ranged;
    smaller.range = IntegerRange{0, ranged->range->high / 10};
    return fmt::format(
        " (a number is larger than the table that it is looked up in: name a "
        "smaller range, as in {})",
        flag(smaller));
  }
  const auto* batched = find([](const auto& shape) {
    return !shape.data && shape.batch_at == std::size_t{0} && shape.per_sample.size() > 1 &&
           shape.per_sample.front() == 1;
  });
  if (batched == nullptr) return {};
  InputShape sample = *batched;
  sample.per_sample.erase(sample.per_sample.begin());
  return fmt::format(
      " (sizes are those of one sample; if the first 1 is the batch, leave it out: "
      "{})",
      flag(sample));
}

/// Returns what an error of a run says, and what can be done about it.
std::string why_not_run(const std::exception& error, const std::vector<InputShape>& shapes) {
  const std::string line = runtime::first_line(error);
  const auto says = [&](std::string_view part) { return line.find(part) != std::string::npos; };
  if (says("'Half'") || says("c10::Half")) {
    return fmt::format(
        "{}: it computes in half precision, which LibTorch {} cannot do here on a CPU; call its "
        "float() before it is saved",
        line, runtime::torch_version());
  }
  if (dynamic_cast<const torch::jit::JITException*>(&error) != nullptr) {
    const bool is_noise = std::ranges::any_of(
        shapes, [](const InputShape& shape) { return !shape.data.has_value(); });
    return fmt::format("its own check fails: {} ({})", line,
                       is_noise ? "on random numbers: give your data, --input FILE.npy"
                                : "on the data of --input: open it on data that pass; requests "
                                  "that fail may be given to `deploy`, each by itself");
  }
  return line + shape_hint(line, shapes);
}

Expected<Run> run_at(GraphRunner& runner, const Flat& flat, const Graph& graph,
                     const std::vector<InputShape>& shapes, std::int64_t batch,
                     std::uint64_t seed) {
  Run run;
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
  try {
    const torch::NoGradGuard no_grad;
    PARETO_ASSIGN(auto arguments, arguments_at(flat, shapes, batch, seed));
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      run.see(static_cast<std::size_t>(graph.inputs[i]), arguments[i]);
    }
    std::vector<std::pair<std::size_t, c10::IValue>> filled;
    runner.run(std::move(arguments), [&](std::size_t position, Node* node, auto in, auto out) {
      run.flops[position] += flops_of(node, in, out);
      for (std::size_t i = 0; i < in.size(); ++i) {
        const auto read = indices.find(node->input(i));
        if (read != indices.end()) note_change(graph, position, read->second, in[i], run);
      }
      if (node->owningBlock() != flat.graph->block()) return;
      for (std::size_t i = 0; i < out.size(); ++i) {
        const std::size_t index = indices.at(node->output(i));
        run.see(index, out[i]);
        if (may_be_filled(node->output(i))) filled.emplace_back(index, out[i]);
      }
    });
    // Where they may cross, these hold what they hold in the end.
    for (const auto& [index, container] : filled) run.see(index, container);
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInvalidArgument, "it does not run at batch {} on {}: {}", batch,
                describe_examples(shapes, input_names(flat), batch), why_not_run(error, shapes));
  }
  return run;
}

/// Batches that are tried together: shapes are seen at both, or at one alone.
using Attempt = std::vector<std::int64_t>;

/// Returns what is tried in turn, until a model runs. `named`: batches that somebody wants.
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
  // Files do not say at which batch they were exported. These are the usual ones.
  for (const std::int64_t batch : {1, 4, 8, 16, 32}) all.push_back({batch});
  return all;
}

Expected<std::vector<Run>> run_at_two_batches(GraphRunner& runner, const Flat& flat,
                                              const Graph& graph,
                                              const std::vector<InputShape>& shapes,
                                              const std::vector<std::int64_t>& named) {
  // Of the batch that people gave, or else of the first that was tried.
  std::optional<Error> told;
  const std::int64_t given = batch_of_data(shapes).value_or(0);
  for (const Attempt& batches : attempts(shapes, named)) {
    std::vector<Run> runs;
    for (const std::int64_t batch : batches) {
      auto run = run_at(runner, flat, graph, shapes, batch, kSeed);
      if (!run) {
        if (!told || batch == given) told = run.error();
        break;
      }
      runs.push_back(*std::move(run));
    }
    if (runs.size() == batches.size()) return runs;
  }
  return tl::unexpected(*told);
}

bool is_number(const ValueSpec& spec) {
  return spec.kind == ValueSpec::Kind::kLeaf &&
         (spec.leaf.is<std::int64_t>() || spec.leaf.is<double>() || spec.leaf.is<bool>());
}

/// Returns whether sizes may follow from what the data are: of results of such operators, or of
/// what is made with numbers read off the data.
bool may_depend_on_data(const Graph& graph) {
  std::vector<bool> holds_data(graph.values.size(), false);
  for (const std::int64_t input : graph.inputs) holds_data[static_cast<std::size_t>(input)] = true;
  for (const Operator& op : graph.operators) {
    if (op.inner_operators > 0 || sizes_follow_data(op.kind)) return true;
    const bool reads_data = std::ranges::any_of(
        op.inputs, [&](std::int64_t input) { return holds_data[static_cast<std::size_t>(input)]; });
    if (!reads_data || asks_for_sizes(op.kind)) continue;
    for (const std::int64_t output : op.outputs) {
      const auto at = static_cast<std::size_t>(output);
      const ValueSpec& spec = graph.values[at].spec;
      // where() of a condition alone lists where it holds.
      const bool lists = op.kind == "aten::where" && spec.kind == ValueSpec::Kind::kList;
      if (lists || is_number(spec)) return true;
      holds_data[at] = true;
    }
  }
  return false;
}

/// Returns made-up values in place of the data, in the data's range.
std::vector<InputShape> without_data(std::vector<InputShape> shapes) {
  for (InputShape& shape : shapes) shape.data.reset();
  return shapes;
}

/// Runs other values through, and names the values that are of another shape then.
Expected<> find_data_dependence(GraphRunner& runner, const Flat& flat, const Graph& graph,
                                const std::vector<InputShape>& shapes, const Run& first,
                                std::vector<std::string>& reasons) {
  if (!may_depend_on_data(graph)) return {};
  const bool has_data =
      std::ranges::any_of(shapes, [](const InputShape& shape) { return shape.data.has_value(); });
  auto ran = run_at(runner, flat, graph, without_data(shapes), first.batch, kOtherSeed);
  // It may run on nothing but the data.
  if (!ran && has_data) return {};
  PARETO_ASSIGN(const Run other, std::move(ran));
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    if (!reasons[i].empty() || !first.seen[i] || !other.seen[i]) continue;
    const auto joined = join_specs(*first.seen[i], first.batch, *other.seen[i], first.batch);
    if (!joined || tensors_of(*joined) != tensors_of(spec_of(*first.seen[i]))) {
      reasons[i] = "its shape depends on the data";
    }
  }
  return {};
}

std::optional<IntegerRange> join_ranges(const std::optional<IntegerRange>& a,
                                        const std::optional<IntegerRange>& b) {
  if (!a || !b) return a ? a : b;
  return IntegerRange{std::min(a->low, b->low), std::max(a->high, b->high)};
}

/// Puts specs into the graph; returns for each value why it cannot cross, or "".
std::vector<std::string> add_specs(const std::vector<Run>& runs, Graph& graph) {
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

/// Values that cannot cross keep their maker and all who read them together.
Ties ties_of_what_stays(const Graph& graph, const std::vector<std::string>& reasons) {
  Ties ties;
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const GraphValue& value = graph.values[i];
    if (reasons[i].empty() || (value.users.empty() && !value.is_output)) continue;
    // What is there from the beginning, or until the end, would cross all that lies between.
    std::int64_t last = value.is_output ? static_cast<std::int64_t>(graph.operators.size()) - 1
                                        : value.users.back();
    auto& tied = ties.emplace_back();
    if (value.producer < 0 || value.is_output) {
      for (; last >= std::max<std::int64_t>(value.producer, 0); --last) tied.push_back(last);
    } else {
      tied = value.users;
      tied.push_back(value.producer);
    }
  }
  return ties;
}

}  // namespace

Expected<> bind_inputs(Flat& flat, const std::vector<InputShape>& shapes) {
  if (shapes.size() > flat.model_inputs) {
    return fail(ErrorCode::kInvalidArgument, "{} input shapes are given, the model has {}",
                shapes.size(), counted(flat.model_inputs, "input"));
  }
  const std::vector<std::string> names = input_names(flat);
  std::vector<std::string> missing;
  bool bound = false;
  try {
    for (std::size_t i = flat.model_inputs; i > shapes.size(); --i) {
      torch::jit::Value* input = flat.graph->inputs()[i - 1];
      std::optional<c10::IValue> standard;
      if (flat.original) {
        const auto schema = flat.original->get_method("forward").function().getSchema();
        standard = runtime::to_std(schema.arguments().at(i).default_value());
      }
      if (!standard) {
        missing.insert(missing.begin(), input_name(input));
        continue;
      }
      const torch::jit::WithInsertPoint start(*flat.graph->nodes().begin());
      input->replaceAllUsesWith(flat.graph->insertConstant(*standard));
      flat.graph->eraseInput(i - 1);
      --flat.model_inputs;
      bound = true;
    }
    const bool has_data =
        std::ranges::any_of(shapes, [](const InputShape& shape) { return shape.data.has_value(); });
    if (!missing.empty() && has_data) {
      return fail(ErrorCode::kInvalidArgument,
                  "it takes {} ({}), and there {} for {} only: name one each, in that order and "
                  "separated by commas (--input)",
                  counted(names.size(), "input"), fmt::join(names, ", "),
                  shapes.size() == 1 ? "is a file" : "are files",
                  fmt::join(names.begin(), names.begin() + std::ssize(shapes), ", "));
    }
    if (!missing.empty()) {
      return fail(ErrorCode::kInvalidArgument,
                  "a file does not say the shapes of its inputs: no shape for {}; give one for "
                  "each, per sample, as in --input-shape \"3x224x224\" or \"3x224x224;128:int64\"",
                  fmt::join(missing, ", "));
    }
    if (bound) {
      simplify(flat.graph);
      drop_unused_weights(*flat.graph, flat.weights);
    }
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInvalidArgument, "{}", runtime::first_line(error));
  }
  for (std::size_t i = 0; i < flat.model_inputs; ++i) {
    const torch::jit::Value* input = flat.graph->inputs()[i];
    if (input->type()->isSubtypeOf(*c10::OptionalType::ofTensor())) continue;
    return fail(ErrorCode::kInvalidArgument,
                "input {} is a {}; only tensors can be given from outside", input_name(input),
                input->type()->repr_str());
  }
  return {};
}

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
      PARETO_ASSIGN(auto arguments, arguments_at(flat, shapes, attempt.front(), kSeed));
      GraphRunner(flat.graph).run(std::move(arguments), note);
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

Expected<Examined> examine_flat(const Flat& flat, const std::vector<InputShape>& shapes,
                                const std::vector<std::int64_t>& batches) {
  PARETO_ASSIGN(Graph graph, build_graph(flat));
  GraphRunner runner(flat.graph);
  PARETO_ASSIGN(const auto runs, run_at_two_batches(runner, flat, graph, shapes, batches));
  auto reasons = add_specs(runs, graph);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    graph.values[static_cast<std::size_t>(graph.inputs[i])].spec.range = shapes[i].range;
  }
  PARETO_TRY(find_data_dependence(runner, flat, graph, shapes, runs.front(), reasons));
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    graph.operators[i].flops_per_sample =
        runs.front().flops[i] / static_cast<double>(runs.front().batch);
  }
  Examined examined{std::move(graph), {}, std::nullopt};
  if (runs.size() == 1) examined.only_batch = runs.front().batch;
  examined.illegal.resize(examined.graph.operators.size() + 1);
  for (std::size_t position = 1; position < examined.graph.operators.size(); ++position) {
    for (const std::int64_t index :
         live_values(examined.graph, static_cast<std::int64_t>(position))) {
      const auto at = static_cast<std::size_t>(index);
      if (reasons[at].empty()) continue;
      examined.illegal[position] =
          fmt::format("{} would cross: {}", examined.graph.values[at].name, reasons[at]);
      break;
    }
  }
  Ties ties = ties_of_what_stays(examined.graph, reasons);
  try {
    find_hazards(flat, examined.graph, examined.illegal, ties);
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInternal, "analysing aliases: {}", runtime::first_line(error));
  }
  examined.graph.groups = inseparable_groups(examined.graph, ties);
  return examined;
}

}  // namespace pareto::model
