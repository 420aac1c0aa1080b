// Convolutions and what surrounds them in oneDNN's own blocked layouts: what
// torch.jit.optimize_for_inference does, for a method that is not called forward.
#include <torch/csrc/jit/passes/frozen_conv_add_relu_fusion.h>
#include <torch/csrc/jit/passes/frozen_linear_transpose.h>
#include <torch/csrc/jit/passes/frozen_ops_to_mkldnn.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

#include "runtime/engines/engine.h"

namespace pareto::runtime {
namespace {

using torch::jit::Node;

/// The most channels that a block has: 16 with AVX-512, 8 with AVX2.
constexpr std::int64_t kBlockChannels = 16;

/// Returns LibTorch's plain operator for one of those that it runs over the bytes of a blocked
/// tensor; null for every other node.
const char* plain_operator(const Node* node) {
  static constexpr std::array<std::pair<std::string_view, const char*>, 5> kActivations{
      {{"prim::MKLDNNHardSwish", "aten::hardswish"},
       {"prim::MKLDNNHardSigmoid", "aten::hardsigmoid"},
       {"prim::MKLDNNRelu6", "aten::relu6"},
       {"prim::MKLDNNHardTanh", "aten::hardtanh"},
       {"prim::MKLDNNClamp", "aten::clamp"}}};
  std::string_view kind = node->kind().toQualString();
  if (kind.ends_with('_')) kind.remove_suffix(1);
  for (const auto& [blocked, plain] : kActivations) {
    if (kind == blocked) return plain;
  }
  return nullptr;
}

/// Returns whether the channels of a value are known to fill their blocks. They are known of the
/// result of a convolution.
bool fills_blocks(const torch::jit::Value* value) {
  static const auto kConvolution = c10::Symbol::prim("mkldnn_convolution");
  if (value->node()->kind() != kConvolution) return false;
  const Node* const weight = value->node()->input(1)->node();
  if (!weight->hasAttribute(c10::attr::value)) return false;
  // The first dimension is that of the channels, or of the groups: then it divides their number.
  return weight->t(c10::attr::value).size(0) % kBlockChannels == 0;
}

/// Returns whether an operand of a node is a constant list of this number alone.
bool is_all(const Node* node, std::size_t operand, std::int64_t number) {
  const auto list = torch::jit::toIValue(node->input(operand));
  if (!list || !list->isIntList()) return false;
  const std::vector<std::int64_t> numbers = list->toIntVector();
  return std::all_of(numbers.begin(), numbers.end(),
                     [&](std::int64_t one) { return one == number; });
}

/// Returns whether a node pools as oneDNN cannot: with a dilation, with a divisor of its own, or to
/// a size that may not divide the input's.
bool pools_otherwise(const Node* node) {
  if (node->kind() == c10::aten::max_pool2d) return !is_all(node, 4, 1);
  if (node->kind() == c10::aten::adaptive_avg_pool2d) return !is_all(node, 1, 1);
  if (node->kind() != c10::aten::avg_pool2d) return false;
  const auto divisor = torch::jit::toIValue(node->input(6));
  return !divisor || !divisor->isNone();
}

/// Returns whether a tensor lies in one of oneDNN's layouts.
bool is_blocked(const torch::jit::Value* value) {
  for (const Node* node = value->node();; node = node->input(0)->node()) {
    const std::string_view kind = node->kind().toQualString();
    if (kind == "aten::to_mkldnn" || kind == "prim::mkldnn_convolution") return true;
    if (kind.starts_with("prim::MKLDNN")) return true;
    const bool keeps_layout = kind.starts_with("aten::") && kind != "aten::to_dense";
    if (!keeps_layout || node->inputs().empty()) return false;
  }
}

void collect_outsiders(torch::jit::Block* block, std::vector<Node*>& found) {
  for (Node* node : block->nodes()) {
    for (torch::jit::Block* inner : node->blocks()) collect_outsiders(inner, found);
    const bool is_activation = plain_operator(node) != nullptr && !fills_blocks(node->input(0));
    if (is_activation || (pools_otherwise(node) && is_blocked(node->input(0)))) {
      found.push_back(node);
    }
  }
}

/// Computes outside oneDNN's layouts what is wrong or refused in them: pooling that oneDNN does not
/// know, and activations unless their channels fill all blocks. Of a tensor whose last block is
/// part empty, LibTorch's operators leave out the end.
void compute_outside(torch::jit::Graph& graph) {
  static const auto kToDense = c10::Symbol::fromQualString("aten::to_dense");
  static const auto kToBlocked = c10::Symbol::fromQualString("aten::to_mkldnn");
  static const auto kLeast = c10::Symbol::attr("min_val");
  static const auto kMost = c10::Symbol::attr("max_val");
  std::vector<Node*> outsiders;
  collect_outsiders(graph.block(), outsiders);
  for (Node* node : outsiders) {
    const torch::jit::WithInsertPoint here(node);
    std::vector<torch::jit::NamedValue> arguments(node->inputs().begin(), node->inputs().end());
    arguments[0] = graph.insert(kToDense, {node->input(0)});
    // Limits are attributes here, and arguments of the plain operator.
    for (const c10::Symbol limit : {kLeast, kMost}) {
      if (node->hasAttribute(limit)) arguments.emplace_back(node->f(limit));
    }
    const char* const plain = plain_operator(node);
    torch::jit::Value* const result = graph.insert(
        plain != nullptr ? c10::Symbol::fromQualString(plain) : node->kind(), arguments);
    node->output()->replaceAllUsesWith(graph.insert(kToBlocked, {result}));
    node->destroy();
  }
}

}  // namespace

EngineGraph prepare_onednn(const LoadedModule& loaded) {
  if (!loaded.device.is_cpu()) throw std::runtime_error("oneDNN runs on the CPU only");
  if (loaded.precision != Precision::kFloat32) throw std::runtime_error("fp32 only");
  auto [graph, self] = freeze_shard(loaded);
  torch::jit::FuseFrozenConvAddRelu(graph);
  torch::jit::ConvertFrozenOpsToMKLDNN(graph);
  compute_outside(*graph);
  torch::jit::FrozenLinearTranspose(graph);
  return {std::move(graph), std::move(self)};
}

}  // namespace pareto::runtime
