#include "runtime/segment_profiler.h"

#include <ATen/Parallel.h>
#include <torch/csrc/jit/passes/canonicalize.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "core/base/digest.h"
#include "runtime/shard_module.h"
#include "runtime/torch/compat.h"
#include "runtime/torch/interruption.h"

namespace pareto::runtime {
namespace {

using torch::jit::Node;
namespace jit = torch::jit;
using Environment = std::unordered_map<const jit::Value*, c10::IValue>;

bool is_constant(const jit::Value* value) { return value->node()->kind() == c10::prim::Constant; }

/// One node as a graph of its own: interpreting it costs little more than the operator.
struct Step {
  const Node* node = nullptr;
  /// The node's inputs that are no constants, and what its blocks read from outside.
  std::vector<const jit::Value*> arguments;
  std::unique_ptr<torch::jit::Code> code;
  std::string blocks;  ///< work of the blocks inside it
  std::string what;    ///< description as in OperatorTime
  std::vector<Nanoseconds> times;
};

Step make_step(Node* node) {
  Step step;
  step.node = node;
  auto graph = std::make_shared<torch::jit::Graph>();
  std::unordered_map<jit::Value*, jit::Value*> mapped;
  const auto map = [&](jit::Value* value) {
    const auto known = mapped.find(value);
    if (known != mapped.end()) return known->second;
    jit::Value* inside = nullptr;
    if (is_constant(value)) {
      Node* copy = graph->createClone(value->node(), [](jit::Value* v) { return v; });
      graph->block()->prependNode(copy);
      inside = copy->output();
    } else {
      inside = graph->addInput();
      inside->setType(value->type());
      step.arguments.push_back(value);
    }
    mapped.emplace(value, inside);
    return inside;
  };
  Node* copy = graph->createClone(node, map);
  graph->block()->appendNode(copy);
  for (jit::Value* output : copy->outputs()) graph->registerOutput(output);
  if (!node->blocks().empty()) {
    step.blocks = torch::jit::Canonicalize(graph, /*keep_unique_names=*/false)->toString(false);
  }
  insert_stop_checks(*graph);
  step.code = std::make_unique<torch::jit::Code>(graph, "step");
  return step;
}

/// A description that tells one operator's work from another's, in words; as much of it as anybody
/// would read, and then its digest.
class Description {
 public:
  void add(std::string_view text) {
    if (text_.size() < kMostBytes) text_ += text;
    hasher_.update(text);
  }
  /// A tensor by its type, shape and, where it is not dense, strides; of a list or tuple all of it,
  /// of a number or a text itself.
  void add_value(const c10::IValue& value) {
    try {
      add_known(value);
    } catch (const std::exception&) {
      // A kind of tensor that has no sizes.
      add(value.tagKind());
    }
  }
  std::string text() {
    std::ranges::replace(text_, '\n', ' ');
    return text_.size() < kMostBytes ? text_ : text_ + "... " + hasher_.finish().hex();
  }

 private:
  static constexpr std::size_t kMostBytes = 400;

  void add_known(const c10::IValue& value) {
    std::ostringstream words;
    if (value.isTensor() && value.toTensor().defined()) {
      const at::Tensor tensor = value.toTensor();
      words << tensor.scalar_type() << tensor.sizes();
      if (!tensor.is_contiguous()) words << '/' << tensor.strides();
      if (!tensor.is_cpu()) words << '@' << tensor.device();
      return add(words.str());
    }
    if (value.isList() || value.isTuple()) {
      const auto items =
          value.isTuple() ? value.toTupleRef().elements().vec() : value.toListRef().vec();
      add("(");
      for (const c10::IValue& item : items) {
        // Tuples of tuples may name the same tensor any number of times.
        if (--items_left_ < 0) break;
        add_value(item);
        add(",");
      }
      return add(")");
    }
    if (value.isString()) return add('"' + value.toStringRef() + '"');
    if (value.isScalar() || value.isBool()) {
      words << value;
      return add(words.str());
    }
    add(value.tagKind());
  }

  std::string text_;
  Hasher hasher_;
  int items_left_ = 10'000;
};

std::string describe(const Step& step, const Environment& environment) {
  Description description;
  description.add(step.node->kind().toQualString());
  description.add("(");
  const auto add = [&](const jit::Value* value) {
    const auto known = environment.find(value);
    const auto constant = torch::jit::toIValue(value);
    if (known != environment.end()) {
      description.add_value(known->second);
    } else if (constant) {
      description.add_value(*constant);
    }
    description.add(", ");
  };
  for (const jit::Value* input : step.node->inputs()) add(input);
  description.add(")");
  if (!step.node->blocks().empty()) {
    // What they read, and what they do.
    for (const jit::Value* argument : step.arguments) add(argument);
    description.add(step.blocks);
  }
  if (at::get_num_threads() > 1) {
    description.add(" on " + std::to_string(at::get_num_threads()) + " threads");
  }
  return description.text();
}

/// Waits until these values are made: a GPU computes them after the call that asks for them
/// returned.
void wait_until_made(const torch::jit::Stack& values) {
  for (const c10::IValue& value : values) {
    if (!value.isTensor() || !value.toTensor().defined() || value.toTensor().is_cpu()) continue;
    // A copy to the processor comes after all that the device was given before.
    at::empty({1}, at::TensorOptions().device(value.toTensor().device())).cpu();
    return;
  }
}

void run_step(Step& step, Environment& environment, bool timed) {
  if (!timed) step.what = describe(step, environment);
  torch::jit::Stack stack;
  for (const jit::Value* argument : step.arguments) stack.push_back(environment.at(argument));
  const auto start = std::chrono::steady_clock::now();
  torch::jit::InterpreterState(*step.code).run(stack);
  wait_until_made(stack);
  const auto end = std::chrono::steady_clock::now();
  if (timed) step.times.push_back(end - start);
  const auto outputs = step.node->outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i) environment[outputs[i]] = std::move(stack[i]);
}

Nanoseconds median(std::vector<Nanoseconds> times) {
  if (times.empty()) return Nanoseconds{};
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

/// Returns for each value that `result` puts together (null: nothing is known) how many of the
/// operators have run when the last one is done that it comes from.
std::vector<std::size_t> operators_until_each(const Node* result,
                                              const std::vector<const Step*>& operators) {
  if (result == nullptr) return {};
  std::unordered_map<const Node*, std::size_t> counts;
  for (const Step* one : operators) counts.emplace(one->node, counts.size() + 1);
  std::vector<std::size_t> until;
  for (const jit::Value* value : result->inputs()) {
    until.push_back(0);
    std::vector<const Node*> open{value->node()};
    std::unordered_set<const Node*> seen;
    while (!open.empty()) {
      const Node* const node = open.back();
      open.pop_back();
      if (!seen.insert(node).second) continue;
      if (const auto count = counts.find(node); count != counts.end()) {
        until.back() = std::max(until.back(), count->second);
        continue;
      }
      // What lays out values that go out is no operator of the model.
      for (const jit::Value* input : node->inputs()) open.push_back(input->node());
    }
  }
  return until;
}

/// Returns the median, over the repeats, of what steps [first, last) took together.
Nanoseconds median_of_sums(const std::vector<const Step*>& steps, std::size_t first,
                           std::size_t last, int repeats) {
  std::vector<Nanoseconds> sums(static_cast<std::size_t>(repeats));
  for (std::size_t i = first; i < std::min(last, steps.size()); ++i) {
    for (std::size_t round = 0; round < sums.size(); ++round) sums[round] += steps[i]->times[round];
  }
  return median(std::move(sums));
}

}  // namespace

ShardProfile profile_segments(const torch::jit::Module& module, const plan::Shard& shard,
                              const std::vector<c10::IValue>& inputs, int repeats,
                              const std::vector<std::int64_t>& cuts) {
  const auto graph = module.get_method("run").graph()->copy();
  std::vector<Step> steps;
  for (Node* node : graph->nodes()) {
    if (node->kind() != c10::prim::Constant) steps.push_back(make_step(node));
  }
  for (int round = -1; round < repeats; ++round) {  // the first warms up
    Environment environment;
    environment[graph->inputs()[0]] = module._ivalue();
    for (std::size_t i = 0; i < inputs.size(); ++i) environment[graph->inputs()[i + 1]] = inputs[i];
    for (Step& step : steps) run_step(step, environment, round >= 0);
  }
  // The tuple of results at the end is no operator of the model; but it may be constant, or come
  // from one.
  const Node* const maker = graph->outputs()[0]->node();
  const Node* const result = maker->kind() == c10::prim::TupleConstruct ? maker : nullptr;
  std::unordered_map<const Node*, const Step*> step_of;
  for (const Step& step : steps) step_of.emplace(step.node, &step);
  std::vector<const Step*> operators;
  for (const Node* node : operator_nodes(module, *graph, shard)) {
    operators.push_back(step_of.at(node));
  }

  ShardProfile profile;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    profile.operators.push_back({shard.begin + static_cast<std::int64_t>(i),
                                 operators[i]->node->kind().toQualString(),
                                 i < shard.scopes.size() ? shard.scopes[i] : "", operators[i]->what,
                                 median(operators[i]->times)});
  }
  std::int64_t begin = shard.begin;
  const auto add_segment = [&](std::int64_t end) {
    profile.segments.push_back(
        {begin, end,
         median_of_sums(operators, static_cast<std::size_t>(begin - shard.begin),
                        static_cast<std::size_t>(end - shard.begin), repeats)});
    begin = end;
  };
  for (const std::int64_t cut : cuts) add_segment(cut);
  add_segment(shard.end);
  profile.operators_until_output = operators_until_each(result, operators);
  return profile;
}

}  // namespace pareto::runtime
