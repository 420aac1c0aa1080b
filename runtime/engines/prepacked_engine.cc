// Convolutions and linear layers with their weights packed once for oneDNN, sums and activations
// that follow inside them, and pooling, on pictures whose channels are the innermost dimension.
#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>

#include "runtime/engines/convolution_chains.h"
#include "runtime/engines/engine.h"
#include "runtime/kernels/packed_concatenation.h"
#include "runtime/kernels/packed_convolution.h"
#include "runtime/kernels/packed_pooling.h"

namespace pareto::runtime {
namespace {

using torch::jit::Node;
namespace jit = torch::jit;

template <typename T>
bool constant(const jit::Value* value, T& target) {
  const auto known = torch::jit::toIValue(value);
  if (!known) return false;
  target = known->to<T>();
  return true;
}

/// Returns whether a node is of that kind. "relu_" is "relu" to us: what is written is the
/// convolution's own result.
bool is_kind(const Node* node, const char* name) {
  std::string kind = node->kind().toQualString();
  if (kind.ends_with('_')) kind.pop_back();
  return kind == name;
}

/// Returns whether a layer's weights can be packed. A bias that must broadcast, or that LibTorch
/// refuses, is left to LibTorch.
bool can_be_packed(const at::Tensor& weight, const c10::optional<at::Tensor>& bias) {
  const bool one_each = !bias || (bias->dim() == 1 && bias->size(0) == weight.size(0));
  return weight.scalar_type() == at::kFloat && weight.numel() > 0 && one_each;
}

/// aten::conv2d(input, weight, bias, stride, padding, dilation, groups) or
/// aten::_convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding,
/// groups, …), all but the input constant.
std::optional<kernels::ConvolutionSpec> as_convolution(const Node* node) {
  const bool general = node->kind() == c10::aten::_convolution;
  if (!general && node->kind() != c10::aten::conv2d) return std::nullopt;
  if (node->input(4)->type()->kind() == c10::TypeKind::StringType) return std::nullopt;
  kernels::ConvolutionSpec spec;
  c10::optional<at::Tensor> bias;
  const bool known = constant(node->input(1), spec.weight) && constant(node->input(2), bias) &&
                     constant(node->input(3), spec.stride) &&
                     constant(node->input(4), spec.padding) &&
                     constant(node->input(5), spec.dilation) &&
                     constant(node->input(general ? 8 : 6), spec.groups);
  if (!known || spec.weight.dim() != 4 || !can_be_packed(spec.weight, bias)) return std::nullopt;
  bool transposed = false;
  if (general && (!constant(node->input(6), transposed) || transposed)) return std::nullopt;
  for (auto* pair : {&spec.stride, &spec.padding, &spec.dilation}) {
    if (pair->size() == 1) pair->push_back(pair->front());
    if (pair->size() != 2) return std::nullopt;
  }
  if (bias) spec.bias = *bias;
  return spec;
}

/// aten::linear(input, weight, bias), all but the input constant.
std::optional<kernels::ConvolutionSpec> as_linear(const Node* node) {
  if (node->kind() != c10::aten::linear) return std::nullopt;
  kernels::ConvolutionSpec spec;
  c10::optional<at::Tensor> bias;
  if (!constant(node->input(1), spec.weight) || !constant(node->input(2), bias)) {
    return std::nullopt;
  }
  if (spec.weight.dim() != 2 || !can_be_packed(spec.weight, bias)) return std::nullopt;
  spec.linear = true;
  spec.weight = spec.weight.contiguous().view({spec.weight.size(0), spec.weight.size(1), 1, 1});
  spec.stride = spec.dilation = {1, 1};
  spec.padding = {0, 0};
  if (bias) spec.bias = *bias;
  return spec;
}

/// Returns whether a value is known to have the four dimensions of pictures.
bool is_picture(const jit::Value* value) {
  const Node* const node = value->node();
  static constexpr std::array kOfPictures{"aten::max_pool2d", "aten::avg_pool2d",
                                          "aten::adaptive_avg_pool2d"};
  static constexpr std::array kKeepRank{"aten::relu", "aten::batch_norm", "aten::hardswish",
                                        "aten::silu", "aten::dropout"};
  const auto is_among = [&](const auto& kinds) {
    return std::ranges::any_of(kinds, [&](const char* kind) { return is_kind(node, kind); });
  };
  if (is_among(kOfPictures) || as_convolution(node)) return true;
  if (is_among(kKeepRank)) return is_picture(node->input(0));
  if (node->kind() != c10::aten::cat) return false;
  const auto parts = node->input(0)->node()->inputs();
  return std::ranges::any_of(parts, is_picture);
}

/// aten::batch_norm(input, weight, bias, mean, variance, training, momentum, eps, …) of pictures,
/// all but the input constant: a convolution that has a factor and a bias for each channel.
std::optional<kernels::ConvolutionSpec> as_batch_norm(const Node* node) {
  if (node->kind() != c10::aten::batch_norm || !is_picture(node->input(0))) return std::nullopt;
  c10::optional<at::Tensor> factor;
  c10::optional<at::Tensor> bias;
  c10::optional<at::Tensor> mean;
  c10::optional<at::Tensor> variance;
  bool training = true;
  double epsilon = 0;
  const bool known = constant(node->input(1), factor) && constant(node->input(2), bias) &&
                     constant(node->input(3), mean) && constant(node->input(4), variance) &&
                     constant(node->input(5), training) && constant(node->input(7), epsilon);
  if (!known || training || !mean || !variance) return std::nullopt;
  for (const auto& one : {factor, bias, mean, variance}) {
    if (one && (one->scalar_type() != at::kFloat || one->sizes() != mean->sizes())) {
      return std::nullopt;
    }
  }
  at::Tensor scale = at::rsqrt(*variance + epsilon);
  if (factor) scale = scale * *factor;
  kernels::ConvolutionSpec spec;
  spec.bias = -*mean * scale;
  if (bias) spec.bias = spec.bias + *bias;
  spec.groups = scale.numel();
  spec.weight = scale.view({spec.groups, 1, 1, 1});
  spec.stride = spec.dilation = {1, 1};
  spec.padding = {0, 0};
  return spec;
}

std::optional<kernels::Activation> as_activation(const Node* node) {
  kernels::Activation activation;
  if (is_kind(node, "aten::relu")) {
    activation.kind = kernels::Activation::Kind::kRelu;
  } else if (is_kind(node, "aten::relu6")) {
    activation = {kernels::Activation::Kind::kClamp, 0, 6};
  } else if (is_kind(node, "aten::hardtanh")) {
    double low = 0;
    double high = 0;
    if (!constant(node->input(1), low) || !constant(node->input(2), high)) return std::nullopt;
    activation = {kernels::Activation::Kind::kClamp, static_cast<float>(low),
                  static_cast<float>(high)};
  } else if (is_kind(node, "aten::hardswish")) {
    activation.kind = kernels::Activation::Kind::kHardswish;
  } else if (is_kind(node, "aten::silu")) {
    activation.kind = kernels::Activation::Kind::kSilu;
  } else if (is_kind(node, "aten::sigmoid")) {
    activation.kind = kernels::Activation::Kind::kSigmoid;
  } else if (is_kind(node, "aten::hardsigmoid")) {
    activation.kind = kernels::Activation::Kind::kHardsigmoid;
  } else {
    return std::nullopt;
  }
  return activation;
}

/// Returns the node that alone reads this value, in the same block; or null.
Node* only_user(const jit::Value* value) {
  if (value->uses().size() != 1) return nullptr;
  Node* user = value->uses()[0].user;
  return user->owningBlock() == value->node()->owningBlock() ? user : nullptr;
}

/// One convolution and the nodes that go into it, first to last: the convolution, a sum, an
/// activation.
struct Fusion {
  kernels::ConvolutionSpec spec;
  std::vector<Node*> nodes;
  bool adds = false;
};

/// Returns what a sum adds to the convolution's result.
jit::Value* addend_of(Node* sum, const Node* convolution) {
  return sum->inputs()[sum->input(0) == convolution->output() ? 1 : 0];
}

class Fuser {
 public:
  explicit Fuser(const std::shared_ptr<torch::jit::Graph>& graph)
      : graph_(*graph), aliases_(graph) {}

  std::vector<Fusion> find() {
    std::vector<Fusion> found;
    collect(graph_.block(), found);
    return found;
  }

 private:
  void collect(torch::jit::Block* block, std::vector<Fusion>& found) {
    for (Node* node : block->nodes()) {
      for (torch::jit::Block* inner : node->blocks()) collect(inner, found);
      auto spec = as_convolution(node);
      if (!spec) spec = as_linear(node);
      if (!spec) spec = as_batch_norm(node);
      // What is packed once is no longer what somebody writes.
      const bool written =
          spec && (aliases_.hasWriters(node->input(1)) || aliases_.hasWriters(node->input(2)));
      if (spec && !written) found.push_back(extend(node, *std::move(spec)));
    }
  }

  Fusion extend(Node* node, kernels::ConvolutionSpec spec) {
    Fusion fusion{std::move(spec), {node}};
    // The convolution moves down to the last node of its group, so its input must still be what it
    // was.
    if (aliases_.hasWriters(node->input(0))) return fusion;
    Node* next = only_user(node->output());
    if (next != nullptr && is_sum(next, node)) {
      fusion.adds = true;
      fusion.nodes.push_back(next);
      next = only_user(next->output());
    }
    if (next == nullptr) return fusion;
    if (const auto activation = as_activation(next)) {
      fusion.spec.activation = *activation;
      fusion.nodes.push_back(next);
    }
    return fusion;
  }

  /// a + b with a factor of 1, one of them the convolution's result, the other a tensor that no
  /// other convolution has swallowed.
  bool is_sum(Node* node, const Node* convolution) const {
    if (!is_kind(node, "aten::add") || node->inputs().size() != 3) return false;
    double factor = 0;
    c10::IValue scalar = torch::jit::toIValue(node->input(2)).value_or(c10::IValue());
    if (!scalar.isScalar()) return false;
    factor = scalar.toScalar().toDouble();
    const bool first = node->input(0) == convolution->output();
    const jit::Value* other = addend_of(node, convolution);
    if (factor != 1 || other == convolution->output()) return false;
    if (other->type()->kind() != c10::TypeKind::TensorType) return false;
    const bool in_place = node->kind() == c10::aten::add_;
    return (first || !in_place) && !aliases_.hasWriters(other);
  }

  torch::jit::Graph& graph_;
  torch::jit::AliasDb aliases_;
};

/// aten::max_pool2d(input, kernel, stride, padding, dilation, ceil_mode) or aten::avg_pool2d(input,
/// kernel, stride, padding, ceil_mode, count_include_pad, divisor_override), all but the input
/// constant.
std::optional<kernels::PoolingSpec> as_pooling(const Node* node) {
  const bool max = is_kind(node, "aten::max_pool2d");
  if (!max && !is_kind(node, "aten::avg_pool2d")) return std::nullopt;
  kernels::PoolingSpec spec;
  spec.kind = max ? kernels::PoolingSpec::Kind::kMax : kernels::PoolingSpec::Kind::kAverage;
  if (!constant(node->input(1), spec.kernel) || !constant(node->input(2), spec.stride) ||
      !constant(node->input(3), spec.padding)) {
    return std::nullopt;
  }
  if (spec.stride.empty()) spec.stride = spec.kernel;
  for (auto* pair : {&spec.kernel, &spec.stride, &spec.padding}) {
    if (pair->size() == 1) pair->push_back(pair->front());
    if (pair->size() != 2) return std::nullopt;
  }
  if (!constant(node->input(max ? 5 : 4), spec.ceil)) return std::nullopt;
  if (max) {
    std::vector<std::int64_t> dilation;
    if (!constant(node->input(4), dilation)) return std::nullopt;
    const bool dense = std::ranges::all_of(dilation, [](std::int64_t step) { return step == 1; });
    return dense ? std::optional(spec) : std::nullopt;
  }
  bool counts_padding = false;
  const auto divisor = torch::jit::toIValue(node->input(6));
  const bool plain = constant(node->input(5), counts_padding) && counts_padding && !spec.ceil &&
                     divisor && divisor->isNone();
  return plain ? std::optional(spec) : std::nullopt;
}

void collect_poolings(torch::jit::Block* block,
                      std::vector<std::pair<Node*, kernels::PoolingSpec>>& found) {
  for (Node* node : block->nodes()) {
    for (torch::jit::Block* inner : node->blocks()) collect_poolings(inner, found);
    if (auto spec = as_pooling(node)) found.emplace_back(node, *std::move(spec));
  }
}

/// A node's own output becomes that of `symbol` run on `inputs` and a capsule that is an input of
/// the graph. `first` says what it is to people, and where it stands in the model.
void substitute(torch::jit::Graph& graph, Node* first, Node* last, c10::Symbol symbol,
                std::vector<jit::Value*> inputs) {
  const torch::jit::WithInsertPoint here(last);
  inputs.push_back(graph.addInput());
  inputs.back()->setType(c10::CapsuleType::get());
  Node* run = graph.insertNode(graph.create(symbol, inputs));
  run->setScope(first->scope());
  run->s_(kind_attribute(), first->kind().toQualString());
  run->output()->setType(last->output()->type());
  last->output()->replaceAllUsesWith(run->output());
}

/// Puts the packed convolution where the last of its nodes stands; its weights become an input of
/// the graph.
c10::IValue replace(torch::jit::Graph& graph, Fusion fusion) {
  Node* last = fusion.nodes.back();
  const torch::jit::WithInsertPoint here(last);
  Node* convolution = fusion.nodes[0];
  jit::Value* addend =
      fusion.adds ? addend_of(fusion.nodes[1], convolution) : graph.insertConstant(c10::IValue());
  substitute(graph, convolution, last, kernels::packed_convolution_symbol(),
             {convolution->input(0), addend});
  for (auto node = fusion.nodes.rbegin(); node != fusion.nodes.rend(); ++node) (*node)->destroy();
  return c10::IValue::make_capsule(
      c10::make_intrusive<kernels::PackedConvolution>(std::move(fusion.spec)));
}

/// Collects aten::cat(list, 1), which joins pictures by their channels. What are no pictures the
/// kernel leaves to LibTorch.
void collect_concatenations(torch::jit::Block* block, std::vector<Node*>& found) {
  for (Node* node : block->nodes()) {
    for (torch::jit::Block* inner : node->blocks()) collect_concatenations(inner, found);
    std::int64_t dimension = 0;
    if (node->kind() == c10::aten::cat && constant(node->input(1), dimension) && dimension == 1) {
      found.push_back(node);
    }
  }
}

void replace_concatenations(torch::jit::Graph& graph) {
  std::vector<Node*> found;
  collect_concatenations(graph.block(), found);
  for (Node* node : found) {
    const torch::jit::WithInsertPoint here(node);
    Node* const run =
        graph.insertNode(graph.create(kernels::concatenation_symbol(), {node->input(0)}));
    run->setScope(node->scope());
    run->s_(kind_attribute(), node->kind().toQualString());
    run->output()->setType(node->output()->type());
    node->output()->replaceAllUsesWith(run->output());
    node->destroy();
  }
}

}  // namespace

EngineGraph prepare_prepacked(const LoadedModule& loaded) {
  if (!loaded.device.is_cpu()) throw std::runtime_error("packed convolutions run on the CPU only");
  const bool bf16 = loaded.precision == Precision::kBFloat16;
  if (bf16 && !kernels::has_bfloat16_convolutions()) {
    throw std::runtime_error("fp32 only: oneDNN has no bf16 for this processor");
  }
  auto [graph, self] = freeze_shard(loaded);
  std::vector<c10::IValue> packed;
  std::vector<Fusion> fusions = Fuser(graph).find();
  const auto weights = std::make_shared<kernels::PackedWeights>();
  // A sum of two convolutions: the one further down takes it, the other ends before it.
  for (auto fusion = fusions.begin(); fusion != fusions.end(); ++fusion) {
    for (auto later = fusion + 1; later != fusions.end(); ++later) {
      if (fusion->adds && later->adds && fusion->nodes[1] == later->nodes[1]) {
        fusion->adds = false;
        fusion->spec.activation = {};
        fusion->nodes.resize(1);
      }
    }
  }
  for (Fusion& fusion : fusions) {
    fusion.spec.compute = bf16 ? at::kBFloat16 : at::kFloat;
    fusion.spec.packed = weights;
    packed.push_back(replace(*graph, std::move(fusion)));
  }
  if (!bf16) chain_convolutions(graph, packed);
  std::vector<std::pair<Node*, kernels::PoolingSpec>> poolings;
  collect_poolings(graph->block(), poolings);
  for (auto& [node, spec] : poolings) {
    substitute(*graph, node, node, kernels::packed_pooling_symbol(), {node->input(0)});
    packed.push_back(
        c10::IValue::make_capsule(c10::make_intrusive<kernels::PackedPooling>(std::move(spec))));
    node->destroy();
  }
  if (packed.empty())
    throw std::runtime_error("there is no convolution, linear layer or pooling to pack");
  replace_concatenations(*graph);
  torch::jit::EliminateDeadCode(graph);
  if (bf16) constants_to_bfloat16(*graph);
  return {std::move(graph),
          std::move(self),
          std::move(packed),
          Layout::kChannelsLast,
          loaded.precision,
          weights,
          true};
}

}  // namespace pareto::runtime
