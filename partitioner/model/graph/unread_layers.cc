#include "partitioner/model/graph/unread_layers.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "partitioner/model/graph/flatten.h"

namespace pareto::model {
namespace {

using torch::jit::Node;

bool is_number_type(const c10::TypePtr& type) {
  return type->isSubtypeOf(*c10::NumberType::get()) || type->isSubtypeOf(*c10::BoolType::get()) ||
         type->isSubtypeOf(*c10::StringType::get());
}

bool holds_numbers(const c10::TypePtr& type) {
  if (const auto list = type->cast<c10::ListType>()) return is_number_type(list->getElementType());
  return is_number_type(type);
}

/// Returns a dense tensor of the CPU that has elements and is not quantised; null for all else.
/// Half precision is computed: LibTorch may refuse it.
const at::Tensor* dense_tensor(std::span<const c10::IValue> inputs, std::size_t index) {
  if (index >= inputs.size() || !inputs[index].isTensor()) return nullptr;
  const at::Tensor& tensor = inputs[index].toTensor();
  const bool is_dense = tensor.defined() && tensor.is_cpu() && tensor.layout() == at::kStrided &&
                        !tensor.is_quantized() && tensor.is_floating_point() &&
                        tensor.scalar_type() != at::kHalf && tensor.numel() > 0;
  return is_dense ? &tensor : nullptr;
}

/// Returns a dense tensor that lies row by row; null for all else.
const at::Tensor* plain_tensor(std::span<const c10::IValue> inputs, std::size_t index) {
  const at::Tensor* tensor = dense_tensor(inputs, index);
  const bool is_plain = tensor != nullptr && tensor->is_contiguous() &&
                        tensor->suggest_memory_format() == at::MemoryFormat::Contiguous;
  return is_plain ? tensor : nullptr;
}

/// Returns whether a bias or scale is none, or a plain tensor of that shape.
bool is_bias(std::span<const c10::IValue> inputs, std::size_t index, at::IntArrayRef shape,
             const at::Tensor& like) {
  if (index >= inputs.size() || inputs[index].isNone()) return true;
  const at::Tensor* bias = plain_tensor(inputs, index);
  return bias != nullptr && bias->sizes() == shape && bias->scalar_type() == like.scalar_type();
}

/// Returns the two numbers of a list of one or two; none of anything else.
std::optional<std::vector<std::int64_t>> pair_of(std::span<const c10::IValue> inputs,
                                                 std::size_t index) {
  if (index >= inputs.size() || !inputs[index].isIntList()) return std::nullopt;
  std::vector<std::int64_t> numbers = inputs[index].toIntVector();
  if (numbers.size() == 1) numbers.push_back(numbers.front());
  if (numbers.size() != 2) return std::nullopt;
  return numbers;
}

std::optional<at::Tensor> convolution_zeros(std::span<const c10::IValue> inputs,
                                            std::size_t groups_at) {
  const at::Tensor* input = plain_tensor(inputs, 0);
  const at::Tensor* weight = plain_tensor(inputs, 1);
  const auto stride = pair_of(inputs, 3);
  const auto padding = pair_of(inputs, 4);
  const auto dilation = pair_of(inputs, 5);
  if (input == nullptr || weight == nullptr || !stride || !padding || !dilation ||
      groups_at >= inputs.size() || !inputs[groups_at].isInt() || input->dim() != 4 ||
      weight->dim() != 4 || input->scalar_type() != weight->scalar_type() ||
      !is_bias(inputs, 2, weight->sizes().slice(0, 1), *input)) {
    return std::nullopt;
  }
  const std::int64_t groups = inputs[groups_at].toInt();
  if (groups < 1 || input->size(1) != weight->size(1) * groups || weight->size(0) % groups != 0) {
    return std::nullopt;
  }
  std::vector<std::int64_t> shape{input->size(0), weight->size(0)};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto dim = static_cast<std::int64_t>(2 + i);
    if ((*stride)[i] < 1 || (*dilation)[i] < 1 || (*padding)[i] < 0) return std::nullopt;
    const std::int64_t reach = (*dilation)[i] * (weight->size(dim) - 1) + 1;
    const std::int64_t room = input->size(dim) + 2 * (*padding)[i] - reach;
    if (room < 0) return std::nullopt;
    shape.push_back(room / (*stride)[i] + 1);
  }
  return at::zeros(shape, input->options());
}

std::optional<at::Tensor> linear_zeros(std::span<const c10::IValue> inputs) {
  const at::Tensor* input = plain_tensor(inputs, 0);
  const at::Tensor* weight = plain_tensor(inputs, 1);
  if (input == nullptr || weight == nullptr || weight->dim() != 2 || input->dim() < 2 ||
      input->size(-1) != weight->size(1) || input->scalar_type() != weight->scalar_type() ||
      !is_bias(inputs, 2, weight->sizes().slice(0, 1), *input)) {
    return std::nullopt;
  }
  std::vector<std::int64_t> shape = input->sizes().vec();
  shape.back() = weight->size(0);
  return at::zeros(shape, input->options());
}

/// Returns zeros of products: on each side one matrix for each index of the leading dimensions.
std::optional<at::Tensor> product_zeros(std::span<const c10::IValue> inputs) {
  const at::Tensor* left = dense_tensor(inputs, 0);
  const at::Tensor* right = dense_tensor(inputs, 1);
  if (left == nullptr || right == nullptr || left->dim() < 3 || left->dim() != right->dim() ||
      left->size(-1) != right->size(-2) || left->scalar_type() != right->scalar_type()) {
    return std::nullopt;
  }
  const auto leading = static_cast<std::size_t>(left->dim() - 2);
  if (left->sizes().slice(0, leading) != right->sizes().slice(0, leading)) return std::nullopt;
  std::vector<std::int64_t> shape = left->sizes().vec();
  shape.back() = right->size(-1);
  return at::zeros(shape, left->options());
}

std::optional<at::Tensor> softmax_zeros(std::span<const c10::IValue> inputs) {
  const at::Tensor* input = plain_tensor(inputs, 0);
  if (input == nullptr || inputs.size() != 3 || !inputs[1].isInt() || !inputs[2].isNone()) {
    return std::nullopt;
  }
  const std::int64_t dim = inputs[1].toInt();
  if (dim < -input->dim() || dim >= input->dim()) return std::nullopt;
  return at::zeros(input->sizes(), input->options());
}

std::optional<at::Tensor> layer_norm_zeros(std::span<const c10::IValue> inputs) {
  const at::Tensor* input = plain_tensor(inputs, 0);
  if (input == nullptr || inputs.size() < 4 || !inputs[1].isIntList()) return std::nullopt;
  const std::vector<std::int64_t> normalised = inputs[1].toIntVector();
  if (normalised.empty() || normalised.size() > input->sizes().size() ||
      input->sizes().slice(input->sizes().size() - normalised.size()) !=
          at::IntArrayRef(normalised) ||
      !is_bias(inputs, 2, normalised, *input) || !is_bias(inputs, 3, normalised, *input)) {
    return std::nullopt;
  }
  return at::zeros(input->sizes(), input->options());
}

}  // namespace

bool ignores_numbers(torch::jit::Graph& graph, std::size_t data_inputs) {
  std::unordered_set<const torch::jit::Value*> of_data(
      graph.inputs().begin(), graph.inputs().begin() + static_cast<std::ptrdiff_t>(std::min(
                                                           data_inputs, graph.inputs().size())));
  const auto is_of_data = [&](const torch::jit::Value* value) { return of_data.contains(value); };
  for (const Node* node : graph.nodes()) {
    const std::string kind = node->kind().toQualString();
    if (!node->blocks().empty()) return false;
    if (asks_for_sizes(kind) || std::ranges::none_of(node->inputs(), is_of_data)) continue;
    if (sizes_follow_data(kind) || kind == "aten::where") return false;
    // Whatever shares memory with what it writes to would hold data from now on.
    if (writes_to_input(kind) && !is_of_data(node->input(0))) return false;
    for (const torch::jit::Value* output : node->outputs()) {
      if (holds_numbers(output->type())) return false;
      of_data.insert(output);
    }
  }
  return true;
}

bool may_skip_layers(torch::jit::Graph& graph, const std::vector<InputShape>& shapes) {
  return ignores_numbers(graph, shapes.size()) &&
         std::ranges::none_of(
             shapes, [](const InputShape& shape) { return limits_of(shape.dtype).has_value(); });
}

std::optional<at::Tensor> zeros_of_layer(const Node* node, std::span<const c10::IValue> inputs) {
  constexpr std::size_t kTransposed = 6;
  constexpr std::size_t kGroups = 8;
  const std::string_view kind = node->kind().toQualString();
  if (kind == "aten::conv2d") return convolution_zeros(inputs, kTransposed);
  if (kind == "aten::_convolution" && inputs.size() > kGroups && inputs[kTransposed].isBool() &&
      !inputs[kTransposed].toBool()) {
    return convolution_zeros(inputs, kGroups);
  }
  if (kind == "aten::linear") return linear_zeros(inputs);
  if (kind == "aten::matmul") return product_zeros(inputs);
  if (kind == "aten::softmax") return softmax_zeros(inputs);
  if (kind == "aten::layer_norm") return layer_norm_zeros(inputs);
  return std::nullopt;
}

}  // namespace pareto::model
