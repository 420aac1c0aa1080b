#include "partitioner/model/emit/interpret.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <thread>
#include <unordered_map>
#include <utility>

#include "partitioner/model/emit/emit.h"
#include "partitioner/model/graph/cuts.h"
#include "partitioner/model/graph/flat.h"
#include "partitioner/model/graph/graph_runner.h"
#include "runtime/shard_module.h"
#include "runtime/torch/compat.h"
#include "runtime/torch/convert.h"
#include "runtime/torch/guarded.h"
#include "runtime/torch/shard_boundary.h"
#include "runtime/torch/threads.h"

namespace pareto::model {
namespace {

using torch::jit::Node;

void hash_value(const Value& value, Hasher& hasher);

void hash_items(const std::vector<Value>& items, Hasher& hasher) {
  hasher.update(fmt::format("{};", items.size()));
  for (const Value& item : items) hash_value(item, hasher);
}

/// Hashes a value so that two are alike if and only if bit_equal() says so.
void hash_value(const Value& value, Hasher& hasher) {
  hasher.update(fmt::format("{}:", value.storage().index()));
  if (const auto* tensor = value.get_if<Tensor>()) {
    hasher.update(fmt::format("{}[{}]", pareto::to_string(tensor->dtype()),
                              pareto::to_string(tensor->shape())));
    hasher.update(tensor->bytes());
  } else if (const auto* list = value.get_if<List>()) {
    hash_items(list->items, hasher);
  } else if (const auto* tuple = value.get_if<Tuple>()) {
    hash_items(tuple->items, hasher);
  } else if (const auto* dict = value.get_if<Dict>()) {
    hasher.update(fmt::format("{};", dict->items.size()));
    for (const auto& [key, item] : dict->items) {
      hash_value(key, hasher);
      hash_value(item, hasher);
    }
  } else if (const auto* flag = value.get_if<bool>()) {
    hasher.update(*flag ? "1" : "0");
  } else if (const auto* number = value.get_if<std::int64_t>()) {
    hasher.update(fmt::format("{};", *number));
  } else if (const auto* real = value.get_if<double>()) {
    hasher.update(fmt::format("{};", std::bit_cast<std::uint64_t>(*real)));
  } else if (const auto* text = value.get_if<std::string>()) {
    hasher.update(fmt::format("{};{}", text->size(), *text));
  }
}

/// Returns a value with bytes of its own: what is computed later may write to those of LibTorch.
Expected<Value> owned(const c10::IValue& value) {
  if (!value.isTensor() || !value.toTensor().defined()) return runtime::from_ivalue(value);
  return runtime::from_ivalue(value.toTensor().clone());
}

/// Returns the digest of a value; none of values that have no bytes, such as objects.
std::optional<Digest> digest_of(const c10::IValue& value) {
  const auto converted = runtime::from_ivalue(value);
  if (!converted) return std::nullopt;
  Hasher hasher;
  hash_value(*converted, hasher);
  return hasher.finish();
}

/// Returns whether no tensor of a value holds a NaN or an infinity.
bool holds_finite(const c10::IValue& value) {
  if (value.isTensor()) {
    const at::Tensor tensor = value.toTensor();
    if (!tensor.defined() || !(tensor.is_floating_point() || tensor.is_complex())) return true;
    return at::isfinite(tensor).all().item<bool>();
  }
  if (value.isTuple()) {
    const auto& items = value.toTupleRef().elements();
    return std::all_of(items.begin(), items.end(), holds_finite);
  }
  return !value.isTensorList() || std::ranges::all_of(value.toTensorVector(), [](const auto& item) {
    return holds_finite(item);
  });
}

std::string spec_text(const Tensor& tensor) {
  return fmt::format("{}[{}]", pareto::to_string(tensor.dtype()),
                     pareto::to_string(tensor.shape()));
}

std::string tensor_difference(const Value& expected, const Value& actual) {
  const Tensor& whole = *expected.get_if<Tensor>();
  const Tensor& ours = *actual.get_if<Tensor>();
  if (whole.dtype() != ours.dtype() || whole.shape() != ours.shape()) {
    return fmt::format("it is {}, and not {}", spec_text(ours), spec_text(whole));
  }
  const std::size_t size = size_of(whole.dtype());
  std::size_t elements = 0;
  for (std::size_t at = 0; at < whole.bytes().size(); at += size) {
    elements += std::memcmp(whole.bytes().data() + at, ours.bytes().data() + at, size) != 0 ? 1 : 0;
  }
  const double error = relative_error(expected, actual);
  return fmt::format("{} of {} elements differ{}", elements, whole.bytes().size() / size,
                     std::isfinite(error)
                         ? fmt::format(", the most by {:.2g} of the largest", error)
                         : std::string());
}

const std::vector<Value>* items_of(const Value& value) {
  if (const auto* list = value.get_if<List>()) return &list->items;
  if (const auto* tuple = value.get_if<Tuple>()) return &tuple->items;
  return nullptr;
}

/// Says in what two values differ.
std::string difference(const Value& expected, const Value& actual) {
  if (expected.is<Tensor>() && actual.is<Tensor>()) return tensor_difference(expected, actual);
  const std::vector<Value>* whole = items_of(expected);
  const std::vector<Value>* ours = items_of(actual);
  if (whole != nullptr && ours != nullptr && whole->size() == ours->size()) {
    for (std::size_t i = 0; i < whole->size(); ++i) {
      if (bit_equal((*whole)[i], (*ours)[i])) continue;
      return fmt::format("item {}: {}", i, difference((*whole)[i], (*ours)[i]));
    }
  }
  return fmt::format("it is {}, and not {}", describe(actual), describe(expected));
}

/// Returns `values`, which are in the order of `from`, in the order of `to`: indices into
/// Graph::values.
Expected<std::vector<Value>> in_order(const std::vector<std::int64_t>& to,
                                      const std::vector<std::int64_t>& from,
                                      const std::vector<Value>& values) {
  std::vector<Value> ordered;
  for (const std::int64_t index : to) {
    const auto at = std::ranges::find(from, index) - from.begin();
    if (static_cast<std::size_t>(at) >= values.size()) {
      return fail(ErrorCode::kInternal, "the value {} of a cut is not among those that cross",
                  index);
    }
    ordered.push_back(values[static_cast<std::size_t>(at)]);
  }
  return ordered;
}

/// Runs the whole model and then its shards.
///
/// Threads: one owner; LibTorch's thread count is set for the calling thread.
class Interpreter {
 public:
  Interpreter(const Model& model, const InterpretOptions& options,
              const std::function<void(std::size_t, std::size_t)>& progress)
      : model_(model), graph_(model.graph()), options_(options), progress_(progress) {}

  Expected<Interpretation> run() {
    runtime::DropWarnings drop;
    const runtime::warning_api::WarningHandlerGuard quiet(&drop);
    const torch::NoGradGuard no_grad;
    runtime::set_thread_count(options_.threads);
    torch::jit::getProfilingMode() = false;
    PARETO_ASSIGN(inputs_, model_.example_inputs(options_.batch, options_.seed));
    runtime::seed_random_numbers(options_.seed);
    PARETO_ASSIGN(const std::vector<Value> original, model_.run_whole(inputs_));
    digests_.resize(graph_.values.size());
    PARETO_TRY(run_whole(
        [&](std::size_t index, const c10::IValue& value) { digests_[index] = digest_of(value); }));
    PARETO_ASSIGN(const std::vector<Value> outputs, run_shards());
    result_.outputs_equal = bit_equal(Value(List{original}), Value(List{outputs}));
    if (result_.first) PARETO_TRY(explain_first());
    return std::move(result_);
  }

 private:
  using Seen = std::function<void(std::size_t index, const c10::IValue& value)>;

  /// Runs the flat graph, and shows each value when it was made.
  Expected<> run_whole(const Seen& seen) {
    runtime::seed_random_numbers(options_.seed);
    const Flat& flat = model_.flat();
    std::size_t done = 0;
    const auto place = [&] { return "the whole model, " + place_of(done); };
    try {
      std::vector<c10::IValue> arguments;
      for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const auto value = runtime::to_ivalue(inputs_[i], flat.graph->inputs()[i]->type());
        arguments.push_back(value.isTensor() ? c10::IValue(value.toTensor().clone()) : value);
      }
      for (const FlatWeight& weight : flat.weights) arguments.emplace_back(weight.to_run());
      GraphRunner runner(flat.graph);
      runner.run(std::move(arguments), [&](std::size_t position, Node* node, auto, auto out) {
        if (node->owningBlock() != flat.graph->block()) return;
        const std::vector<std::int64_t>& made = graph_.operators[position].outputs;
        for (std::size_t i = 0; i < made.size(); ++i)
          seen(static_cast<std::size_t>(made[i]), out[i]);
        done = position + 1;
        step();
      });
      return {};
    } catch (const std::exception& error) {
      return fail(runtime::code_of(error), "{}: {}", place(), runtime::first_line(error));
    }
  }

  Expected<std::vector<Value>> run_shards() {
    runtime::seed_random_numbers(options_.seed);
    const auto all = static_cast<std::int64_t>(graph_.operators.size());
    PARETO_ASSIGN(std::vector<Value> values,
                  in_order(live_values(graph_, 0), graph_.inputs, inputs_));
    plan::OperatorRanges before;
    for (std::size_t stage = 0; stage <= options_.cuts.size(); ++stage) {
      const plan::OperatorRanges after = stage < options_.cuts.size()
                                             ? options_.cuts[stage].before
                                             : plan::OperatorRanges{{0, all}};
      if (!holds_all(after, before)) {
        return fail(ErrorCode::kInvalidArgument, "{} does not lie behind {}",
                    options_.cuts[stage].name, options_.cuts[stage - 1].name);
      }
      std::vector<std::int64_t> own = operators_in(after);
      std::erase_if(own, [&](std::int64_t op) { return plan::holds(before, op); });
      PARETO_ASSIGN(values, run_shard({before, plan::ranges_of(own)}, stage, std::move(values)));
      before = after;
    }
    return in_order(graph_.outputs, live_values(graph_, all), values);
  }

  Expected<std::vector<Value>> run_shard(const plan::ShardOperators& operators, std::size_t stage,
                                         std::vector<Value> values) {
    PARETO_ASSIGN(const plan::Shard shard, emit_shard(model_, operators));
    const auto weights = [&](const Digest& digest) {
      return options_.weights ? options_.weights(digest) : model_.weight(digest);
    };
    PARETO_ASSIGN(torch::jit::Module module,
                  with_context(runtime::load_module(shard, weights, c10::kCPU,
                                                    runtime::WrittenWeights::kCopied),
                               "stage {}", stage));
    const runtime::ShardBoundary boundary(module, shard, c10::kCPU);
    PARETO_ASSIGN(std::vector<c10::IValue> arguments,
                  with_context(boundary.to_arguments(values), "stage {}", stage));
    arguments.insert(arguments.begin(), module._ivalue());
    const auto graph = module.get_method("run").graph();
    const std::vector<std::int64_t> own = operators_in(operators.own);
    std::unordered_map<const Node*, std::int64_t> position_of;
    for (const Node* node : runtime::operator_nodes(module, *graph, shard)) {
      position_of.emplace(node, own[position_of.size()]);
    }
    std::size_t done = 0;
    try {
      GraphRunner runner(graph);
      auto began = std::chrono::steady_clock::now();
      const auto results =
          runner.run(std::move(arguments), [&](std::size_t, Node* node, auto, auto out) {
            const auto known = position_of.find(node);
            if (known != position_of.end()) {
              note(known->second, stage, out, std::chrono::steady_clock::now() - began);
              ++done;
              step();
            }
            began = std::chrono::steady_clock::now();
          });
      return boundary.to_values(results.front().toTupleRef().elements().vec());
    } catch (const std::exception& error) {
      return fail(runtime::code_of(error), "stage {}, {}: {}", stage,
                  done < own.size() ? place_of(static_cast<std::size_t>(own[done])) : "its outputs",
                  runtime::first_line(error));
    }
  }

  /// Compares what an operator of a shard computed.
  template <typename Outputs>
  void note(std::int64_t position, std::size_t stage, const Outputs& outputs, Nanoseconds took) {
    const Operator& op = graph_.operators[static_cast<std::size_t>(position)];
    InterpretedOperator& one = result_.operators.emplace_back();
    one.position = position;
    one.kind = op.kind;
    one.scope = op.scope;
    one.stage = stage;
    one.took = took;
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      const auto index = static_cast<std::size_t>(op.outputs[i]);
      const GraphValue& value = graph_.values[index];
      one.values.push_back(value.name + " " + value.spec.describe());
      one.is_finite = one.is_finite && holds_finite(outputs[i]);
      const std::optional<Digest> digest = digest_of(outputs[i]);
      if (!digest && !digests_[index]) {
        ++result_.skipped;
        continue;
      }
      ++result_.values;
      if (digest == digests_[index]) continue;
      one.is_equal = false;
      ++result_.differing;
      if (result_.first) continue;
      result_.first = DifferingValue{value.name, result_.operators.size() - 1, {}};
      first_index_ = index;
      first_value_ = owned(outputs[i]);
    }
  }

  /// Runs the whole model again for the value that the first difference is of.
  Expected<> explain_first() {
    std::optional<Expected<Value>> expected;
    progress_ = {};
    PARETO_TRY(run_whole([&](std::size_t index, const c10::IValue& value) {
      if (index == first_index_) expected = owned(value);
    }));
    if (expected && *expected && first_value_) {
      result_.first->what = difference(**expected, *first_value_);
    } else {
      result_.first->what = "only one of the two is a value that can be compared";
    }
    return {};
  }

  std::string place_of(std::size_t position) const {
    if (position >= graph_.operators.size()) return "its outputs";
    const Operator& op = graph_.operators[position];
    return fmt::format("operator {} ({}{}{})", position, op.kind, op.scope.empty() ? "" : " in ",
                       op.scope);
  }

  void step() {
    ++steps_;
    if (progress_) progress_(steps_, 2 * graph_.operators.size());
  }

  const Model& model_;
  const Graph& graph_;
  const InterpretOptions& options_;
  std::function<void(std::size_t, std::size_t)> progress_;
  std::vector<Value> inputs_;
  std::vector<std::optional<Digest>> digests_;  ///< those of the whole model, by Graph::values
  Interpretation result_;
  std::size_t first_index_ = 0;
  Expected<Value> first_value_;
  std::size_t steps_ = 0;
};

}  // namespace

Expected<Interpretation> interpret(
    const Model& model, const InterpretOptions& options,
    const std::function<void(std::size_t done, std::size_t total)>& progress) {
  // The number of threads that it sets is that of its own thread.
  Expected<Interpretation> result;
  std::jthread([&] {
    result = runtime::guarded("interpreting " + model.name(), [&]() -> Expected<Interpretation> {
      return Interpreter(model, options, progress).run();
    });
  }).join();
  return result;
}

}  // namespace pareto::model
