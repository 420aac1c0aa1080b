#include "partitioner/model/graph/flops.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "partitioner/model/graph/packed_weights.h"

namespace pareto::model {
namespace {

using Values = std::span<const c10::IValue>;

double elements(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined()
             ? static_cast<double>(value.toTensor().numel())
             : 0;
}

bool is_tensor(Values values, std::size_t index) {
  return index < values.size() && values[index].isTensor() && values[index].toTensor().defined();
}

/// Returns the FLOPs of an operator whose every result element is a dot product along the last
/// dimension of its input number `left`.
double product(Values inputs, Values outputs, std::size_t left) {
  if (!is_tensor(inputs, left) || inputs[left].toTensor().dim() == 0) return 0;
  return 2 * elements(outputs[0]) * static_cast<double>(inputs[left].toTensor().size(-1));
}

double convolution(std::string_view name, Values inputs, Values outputs) {
  if (!is_tensor(inputs, 1)) return 0;
  const at::Tensor& weight = inputs[1].toTensor();
  if (weight.dim() == 0 || weight.size(0) == 0) return 0;
  const bool transposed = name.starts_with("conv_transpose") ||
                          (inputs.size() > 6 && inputs[6].isBool() && inputs[6].toBool());
  // Forward, each output element reads weight[0] of one filter; transposed, each input element is
  // spread over one.
  const double places = transposed ? elements(inputs[0]) : elements(outputs[0]);
  const double bias = is_tensor(inputs, 2) ? elements(outputs[0]) : 0;
  return 2 * places * static_cast<double>(weight.numel()) / static_cast<double>(weight.size(0)) +
         bias;
}

/// max_pool2d and avg_pool2d: as many operations an output element as the window has places.
double pooling(Values inputs, Values outputs) {
  double window = 1;
  if (inputs.size() > 1 && inputs[1].isIntList()) {
    const auto sizes = inputs[1].toIntVector();
    for (const std::int64_t size : sizes) window *= static_cast<double>(size);
  }
  return window * elements(outputs[0]);
}

/// Multi-head attention fused into one operator: projections to q, k, v, two products over the
/// sequence, projection back.
double attention(Values inputs) {
  if (!is_tensor(inputs, 0) || inputs[0].toTensor().dim() != 3) return 0;
  const double all = elements(inputs[0]);
  const auto length = static_cast<double>(inputs[0].toTensor().size(1));
  const auto width = static_cast<double>(inputs[0].toTensor().size(2));
  return 2 * all * (4 * width + 2 * length) + 5 * all * length / width;
}

/// Returns the FLOPs of a whole encoder layer fused into one operator: attention, two linear
/// layers, two norms.
double encoder_layer(Values inputs) {
  constexpr std::size_t kFirst = 14;
  constexpr std::size_t kSecond = 16;
  if (!is_tensor(inputs, 0) || !is_tensor(inputs, kFirst) || !is_tensor(inputs, kSecond)) return 0;
  const double all = elements(inputs[0]);
  if (all == 0) return 0;
  const double tokens = all / static_cast<double>(inputs[0].toTensor().size(-1));
  return attention(inputs) + 2 * 8 * all +
         2 * tokens * (elements(inputs[kFirst]) + elements(inputs[kSecond]));
}

/// Returns the FLOPs of two products over the sequences, of [..., queries, width] with [..., keys,
/// width] and [..., keys, values].
double dot_product_attention(Values inputs) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (!is_tensor(inputs, i) || inputs[i].toTensor().dim() < 2) return 0;
  }
  const double queries = elements(inputs[0]) / static_cast<double>(inputs[0].toTensor().size(-1));
  const auto keys = static_cast<double>(inputs[1].toTensor().size(-2));
  const auto width = static_cast<double>(inputs[0].toTensor().size(-1));
  const auto values = static_cast<double>(inputs[2].toTensor().size(-1));
  return queries * keys * (2 * width + 5 + 2 * values);
}

/// lstm, gru, rnn_tanh and rnn_relu: every step takes a product with every matrix of weights.
double recurrent(Values inputs) {
  if (!is_tensor(inputs, 0)) return 0;
  // States may be a list, too; weights are the last one.
  const auto last = std::find_if(inputs.rbegin(), inputs.rend(),
                                 [](const c10::IValue& input) { return input.isTensorList(); });
  if (last == inputs.rend()) return 0;
  const at::Tensor& sequence = inputs[0].toTensor();
  if (sequence.dim() == 0 || sequence.size(-1) == 0) return 0;
  double weights = 0;
  for (const at::Tensor& weight : last->toTensorVector()) {
    if (weight.dim() == 2) weights += static_cast<double>(weight.numel());
  }
  return 2 * weights * elements(inputs[0]) / static_cast<double>(sequence.size(-1));
}

/// lstm_cell, gru_cell, rnn_tanh_cell and rnn_relu_cell: one step.
double recurrent_cell(Values inputs) {
  if (!is_tensor(inputs, 0) || !is_tensor(inputs, 2) || !is_tensor(inputs, 3)) return 0;
  const at::Tensor& input = inputs[0].toTensor();
  if (input.dim() == 0 || input.size(-1) == 0) return 0;
  return 2 * (elements(inputs[2]) + elements(inputs[3])) * elements(inputs[0]) /
         static_cast<double>(input.size(-1));
}

/// Returns the FLOPs of a linear layer or a convolution whose weight is packed: `convolution` of
/// its weight.
double packed_layer(std::string_view name, Values inputs, Values outputs) {
  if (inputs.size() < 2 || !is_tensor(outputs, 0)) return 0;
  const auto weight = packed_weight(inputs[1]);
  if (!weight || weight->dim() == 0 || weight->size(0) == 0) return 0;
  const bool transposed = name.starts_with("conv_transpose");
  const double places = transposed ? elements(inputs[0]) : elements(outputs[0]);
  return 2 * places * static_cast<double>(weight->numel()) / static_cast<double>(weight->size(0)) +
         elements(outputs[0]);
}

/// quantized_lstm and quantized_gru, whose weights are a list of packed cells.
double packed_recurrent(Values inputs) {
  if (!is_tensor(inputs, 0) || inputs[0].toTensor().dim() == 0) return 0;
  double weights = 0;
  for (const c10::IValue& input : inputs) {
    if (!input.isList()) continue;
    for (const c10::IValue& cell : input.toListRef()) {
      for (const at::Tensor& tensor : packed_tensors(cell)) {
        if (tensor.dim() == 2) weights += static_cast<double>(tensor.numel());
      }
    }
  }
  const std::int64_t width = std::max<std::int64_t>(inputs[0].toTensor().size(-1), 1);
  return 2 * weights * elements(inputs[0]) / static_cast<double>(width);
}

/// Returns the FLOPs of an einsum: every combination of the indices is one product and one sum: the
/// product of their sizes, each index once.
double einsum(Values inputs) {
  if (inputs.size() < 2 || !inputs[0].isString() || !inputs[1].isTensorList()) return 0;
  const std::string equation = inputs[0].toStringRef();
  std::string_view terms = std::string_view(equation).substr(0, equation.find("->"));
  // By letter; below zero what "..." stands for, counted from its last dimension.
  std::map<std::int64_t, std::int64_t> sizes;
  for (const at::Tensor& operand : inputs[1].toTensorVector()) {
    const std::string_view term = terms.substr(0, terms.find(','));
    terms.remove_prefix(std::min(terms.size(), term.size() + 1));
    const auto is_letter = [](char c) { return c != '.' && c != ' '; };
    std::int64_t not_spelt_out = operand.dim() - std::ranges::count_if(term, is_letter);
    std::int64_t dimension = 0;
    const auto add = [&](std::int64_t index) {
      if (dimension == operand.dim()) return;
      sizes[index] = std::max(sizes[index], operand.size(dimension++));
    };
    for (const char index : term) {
      if (is_letter(index)) add(index);
      while (index == '.' && not_spelt_out > 0) add(-not_spelt_out--);
    }
  }
  double combinations = 1;
  for (const auto& [index, size] : sizes) combinations *= static_cast<double>(size);
  return 2 * combinations;
}

/// Operations an output element.
const std::unordered_map<std::string_view, double>& per_element() {
  static const std::unordered_map<std::string_view, double> kTable{
      {"add", 1},
      {"add_", 1},
      {"sub", 1},
      {"sub_", 1},
      {"rsub", 1},
      {"mul", 1},
      {"mul_", 1},
      {"div", 1},
      {"div_", 1},
      {"neg", 1},
      {"abs", 1},
      {"pow", 1},
      {"sqrt", 1},
      {"rsqrt", 1},
      {"exp", 1},
      {"log", 1},
      {"maximum", 1},
      {"minimum", 1},
      {"clamp", 1},
      {"clamp_", 1},
      {"relu", 1},
      {"relu_", 1},
      {"relu6", 1},
      {"relu6_", 1},
      {"hardtanh", 1},
      {"hardtanh_", 1},
      {"leaky_relu", 1},
      {"leaky_relu_", 1},
      {"prelu", 1},
      {"elu", 2},
      {"sigmoid", 3},
      {"sigmoid_", 3},
      {"tanh", 3},
      {"tanh_", 3},
      {"hardsigmoid", 3},
      {"hardsigmoid_", 3},
      {"silu", 4},
      {"silu_", 4},
      {"hardswish", 4},
      {"hardswish_", 4},
      {"gelu", 8},
      {"softmax", 5},
      {"log_softmax", 5},
      {"_softmax", 5},
      {"batch_norm", 2},
      {"layer_norm", 8},
      {"native_layer_norm", 8},
      {"group_norm", 8},
      {"instance_norm", 8},
      {"where", 1},
      {"masked_fill", 1},
      {"upsample_bilinear2d", 8},
      {"addcmul", 2},
      {"lerp", 2},
  };
  return kTable;
}

}  // namespace

double flops_of(torch::jit::Node* node, Values inputs, Values outputs) {
  if (outputs.empty() || inputs.empty()) return 0;
  const std::string_view name = node->kind().toUnqualString();
  if (name == "quantized_lstm" || name == "quantized_gru") return packed_recurrent(inputs);
  if (std::string_view(node->kind().toQualString()).starts_with("quantized::")) {
    return packed_layer(name, inputs, outputs);
  }
  if (name.starts_with("conv") || name.starts_with("_convolution")) {
    return convolution(name, inputs, outputs);
  }
  if (name == "linear" || name == "matmul" || name == "mm" || name == "bmm" || name == "mv") {
    return product(inputs, outputs, 0) + (is_tensor(inputs, 2) ? elements(outputs[0]) : 0);
  }
  if (name == "_native_multi_head_attention") return attention(inputs);
  if (name == "_transformer_encoder_layer_fwd") return encoder_layer(inputs);
  if (name == "scaled_dot_product_attention") return dot_product_attention(inputs);
  if (name == "lstm" || name == "gru" || name == "rnn_tanh" || name == "rnn_relu") {
    return recurrent(inputs);
  }
  if (name.ends_with("_cell")) return recurrent_cell(inputs);
  if (name == "einsum") return einsum(inputs);
  if (name == "dot") return 2 * elements(inputs[0]);
  if (name == "addmm" || name == "baddbmm") {
    return product(inputs, outputs, 1) + elements(outputs[0]);
  }
  if (name.find("adaptive_") == 0 || name == "mean" || name == "sum" || name == "amax") {
    return elements(inputs[0]);
  }
  if (name.find("max_pool") == 0 || name.find("avg_pool") == 0) return pooling(inputs, outputs);
  const auto found = per_element().find(name);
  return found == per_element().end() ? 0 : found->second * elements(outputs[0]);
}

}  // namespace pareto::model
