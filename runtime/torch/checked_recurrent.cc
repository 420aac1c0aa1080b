#include "runtime/torch/checked_recurrent.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/counted.h"
#include "runtime/torch/compat.h"
#include "runtime/torch/operator_checks.h"
#include "runtime/torch/packed_weights.h"

namespace pareto::runtime {
namespace {

using torch::jit::Stack;

/// An operator, and into how many gates its kernels split a product.
struct Gated {
  const char* name;
  std::int64_t gates;
};
constexpr std::array<Gated, 4> kLayers{
    {{"aten::lstm", 4}, {"aten::gru", 3}, {"aten::rnn_tanh", 1}, {"aten::rnn_relu", 1}}};
constexpr std::array<Gated, 2> kLayersOfFewBits{
    {{"aten::quantized_lstm", 4}, {"aten::quantized_gru", 3}}};
constexpr std::array<Gated, 4> kCells{{{"aten::lstm_cell", 4},
                                       {"aten::gru_cell", 3},
                                       {"aten::rnn_tanh_cell", 1},
                                       {"aten::rnn_relu_cell", 1}}};

/// Throws if a tensor has other sizes. `what`: "weight 2".
void check_sizes(const char* name, const std::string& what, const at::Tensor& tensor,
                 const std::vector<std::int64_t>& sizes) {
  if (tensor.sizes() == at::IntArrayRef(sizes)) return;
  throw std::runtime_error(fmt::format("{}: {} has sizes {}, not {}", name, what,
                                       fmt::join(tensor.sizes(), "x"), fmt::join(sizes, "x")));
}

/// Returns whether it tells of each step how many sequences it has: no more than the step before.
bool are_batch_sizes(const at::Tensor& sizes) {
  if (sizes.dim() != 1 || sizes.numel() == 0 || !sizes.is_contiguous() ||
      !sizes.device().is_cpu() || sizes.scalar_type() != at::kLong) {
    return false;
  }
  const auto* const first = sizes.data_ptr<std::int64_t>();
  const auto* const end = first + sizes.numel();
  return end[-1] > 0 && std::is_sorted(first, end, std::greater<>());
}

/// States that a layer or a cell begins with: what it gave to the next step, and an LSTM's cells.
struct LayerStates {
  std::vector<at::Tensor> all;

  explicit LayerStates(const c10::IValue& hx)
      : all(hx.isTensorList() ? hx.toTensorVector() : std::vector<at::Tensor>{hx.toTensor()}) {
    if (all.empty()) throw std::runtime_error("a recurrent layer has no states");
  }

  /// Numbers of one sample that it gives to the next step; fewer than those of its cells if an LSTM
  /// projects them.
  std::int64_t given() const { return all.front().size(-1); }
  std::int64_t kept() const { return all.back().size(-1); }

  /// Throws if they have other sizes than these, and numbers behind them.
  void check(const char* name, const std::vector<std::int64_t>& before) const {
    for (const at::Tensor& state : all) {
      std::vector<std::int64_t> sizes = before;
      sizes.push_back(state.dim() == 0 ? 0 : state.size(-1));
      check_sizes(name, "a state", state, sizes);
    }
  }
};

/// Reads the arguments of one overload of a layer.
class LayerArguments {
 public:
  explicit LayerArguments(const c10::FunctionSchema& schema)
      : input_(schema, schema.arguments().at(0).name()),
        steps_(schema, "batch_sizes"),
        states_(schema, "hx"),
        weights_(schema, "params"),
        biases_(schema, "has_biases"),
        layers_(schema, "num_layers"),
        both_ways_(schema, "bidirectional"),
        batch_first_(schema, "batch_first") {}

  /// Checks the input and the states.
  void check_states(const char* name, const Stack& stack) const {
    const at::Tensor input = input_.tensor_in(stack);
    const at::Tensor steps = steps_.tensor_in(stack);
    if (steps.defined() && !are_batch_sizes(steps)) {
      throw std::runtime_error(fmt::format("{}: batch_sizes are no counts that only fall", name));
    }
    const std::int64_t dimensions = steps.defined() ? 2 : 3;
    const std::int64_t layers = layers_.in(stack).toInt();
    if (input.dim() != dimensions || layers < 1 || layers > kMostLayers) {
      throw std::runtime_error(
          fmt::format("{}: {} layers of an input of {} dimensions", name, layers, input.dim()));
    }
    const c10::IValue batch_first = batch_first_.in(stack);
    const std::int64_t samples =
        steps.defined() ? steps[0].item<std::int64_t>()
                        : input.size(batch_first.isBool() && batch_first.toBool() ? 0 : 1);
    states(stack).check(name, {layers * ways(stack), samples});
  }

  LayerStates states(const Stack& stack) const { return LayerStates(states_.in(stack)); }
  c10::IValue weights(const Stack& stack) const { return weights_.in(stack); }
  bool has_biases(const Stack& stack) const { return biases_.in(stack).toBool(); }
  /// Returns how many directions a layer goes through a sequence.
  std::int64_t ways(const Stack& stack) const { return both_ways_.in(stack).toBool() ? 2 : 1; }
  /// Returns how many times a layer goes through a sequence, in all layers and directions.
  std::int64_t passes(const Stack& stack) const { return layers_.in(stack).toInt() * ways(stack); }
  /// Returns how many numbers a pass takes from one step.
  std::int64_t taken(const Stack& stack, std::int64_t pass) const {
    return pass < ways(stack) ? input_.tensor_in(stack).size(-1)
                              : ways(stack) * states(stack).given();
  }

 private:
  /// No model has more.
  static constexpr std::int64_t kMostLayers = 10'000;

  StackArgument input_;
  StackArgument steps_;
  StackArgument states_;
  StackArgument weights_;
  StackArgument biases_;
  StackArgument layers_;
  StackArgument both_ways_;
  StackArgument batch_first_;
};

void check_layer(const Gated& layer) {
  put_before_each(layer.name, [&layer](const c10::FunctionSchema& schema) -> StackCheck {
    return [&layer, arguments = LayerArguments(schema)](const Stack& stack) {
      arguments.check_states(layer.name, stack);
      const LayerStates states = arguments.states(stack);
      const bool projects = states.given() != states.kept();
      const bool has_biases = arguments.has_biases(stack);
      const std::int64_t rows = layer.gates * states.kept();
      std::vector<std::vector<std::int64_t>> wanted;
      for (std::int64_t pass = 0; pass < arguments.passes(stack); ++pass) {
        wanted.push_back({rows, arguments.taken(stack, pass)});
        wanted.push_back({rows, states.given()});
        if (has_biases) wanted.insert(wanted.end(), 2, {rows});
        if (projects) wanted.push_back({states.given(), states.kept()});
      }
      const std::vector<at::Tensor> weights = arguments.weights(stack).toTensorVector();
      if (weights.size() != wanted.size()) {
        throw std::runtime_error(fmt::format("{}: it has {} weights, not {}", layer.name,
                                             weights.size(), wanted.size()));
      }
      for (std::size_t i = 0; i < weights.size(); ++i) {
        check_sizes(layer.name, fmt::format("weight {}", i), weights[i], wanted[i]);
      }
    };
  });
}

/// Checks a layer of few bits. Its kernels compare the number of columns, and their biases, when
/// weights are packed.
void check_layer_of_few_bits(const Gated& layer) {
  put_before_each(layer.name, [&layer](const c10::FunctionSchema& schema) -> StackCheck {
    return [&layer, arguments = LayerArguments(schema)](const Stack& stack) {
      arguments.check_states(layer.name, stack);
      const LayerStates states = arguments.states(stack);
      const std::int64_t rows = layer.gates * states.kept();
      std::int64_t pass = 0;
      for (const c10::IValue& cell : arguments.weights(stack).toList().vec()) {
        const std::vector<at::Tensor> weights = weights_of_cell(cell);
        check_sizes(layer.name, "a weight", weights.at(0), {rows, arguments.taken(stack, pass)});
        check_sizes(layer.name, "a weight", weights.at(1), {rows, states.given()});
        ++pass;
      }
    };
  });
}

void check_cell(const Gated& cell) {
  put_before_each(cell.name, [&cell](const c10::FunctionSchema& schema) -> StackCheck {
    std::vector<StackArgument> biases;
    for (const char* const bias : {"b_ih", "b_hh"}) biases.emplace_back(schema, bias);
    return [&cell, biases, input = StackArgument(schema, "input"),
            states = StackArgument(schema, "hx"), from_input = StackArgument(schema, "w_ih"),
            from_state = StackArgument(schema, "w_hh")](const Stack& stack) {
      const at::Tensor given = input.tensor_in(stack);
      if (given.dim() != 2) {
        throw std::runtime_error(
            fmt::format("{}: its input has {} dimensions, not 2", cell.name, given.dim()));
      }
      const LayerStates before(states.in(stack));
      before.check(cell.name, {given.size(0)});
      const std::int64_t rows = cell.gates * before.kept();
      check_sizes(cell.name, "w_ih", from_input.tensor_in(stack), {rows, given.size(1)});
      check_sizes(cell.name, "w_hh", from_state.tensor_in(stack), {rows, before.given()});
      for (const StackArgument& bias : biases) {
        const at::Tensor numbers = bias.tensor_in(stack);
        if (numbers.defined()) check_sizes(cell.name, "a bias", numbers, {rows});
      }
    };
  });
}

void check_packed_sequence(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    return [name, sizes = StackArgument(schema, "batch_sizes")](const Stack& stack) {
      if (are_batch_sizes(sizes.tensor_in(stack))) return;
      throw std::runtime_error(fmt::format("{}: batch_sizes are no counts that only fall", name));
    };
  });
}

}  // namespace

void check_recurrent_layers() {
  for (const Gated& layer : kLayers) check_layer(layer);
  for (const Gated& layer : kLayersOfFewBits) check_layer_of_few_bits(layer);
  for (const Gated& cell : kCells) check_cell(cell);
  check_packed_sequence("aten::_pad_packed_sequence");
}

}  // namespace pareto::runtime
