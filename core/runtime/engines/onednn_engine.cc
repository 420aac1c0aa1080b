// Convolutions and what surrounds them in oneDNN's own blocked layouts: what
// torch.jit.optimize_for_inference does, for a method that is not called forward.
#include <torch/csrc/jit/passes/frozen_conv_add_relu_fusion.h>
#include <torch/csrc/jit/passes/frozen_linear_transpose.h>
#include <torch/csrc/jit/passes/frozen_ops_to_mkldnn.h>

#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/runtime/engines/engine.h"

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

void collect_activations(torch::jit::Block* block, std::vector<Node*>& found) {
  for (Node* node : block->nodes()) {
    for (torch::jit::Block* inner : node->blocks()) collect_activations(inner, found);
    if (plain_operator(node) != nullptr && !fills_blocks(node->input(0))) found.push_back(node);
  }
}

/// Computes activations outside oneDNN's layouts unless their channels fill all blocks. Of a tensor
/// whose last block is part empty, LibTorch's operators leave out the end.
void mend_activations(torch::jit::Graph& graph) {
  static const auto kToDense = c10::Symbol::fromQualString("aten::to_dense");
  static const auto kToBlocked = c10::Symbol::fromQualString("aten::to_mkldnn");
  std::vector<Node*> activations;
  collect_activations(graph.block(), activations);
  for (Node* node : activations) {
    const torch::jit::WithInsertPoint here(node);
    std::vector<torch::jit::NamedValue> arguments(node->inputs().begin(), node->inputs().end());
    arguments[0] = graph.insert(kToDense, {node->input(0)});
    torch::jit::Value* const result =
        graph.insert(c10::Symbol::fromQualString(plain_operator(node)), arguments);
    node->output()->replaceAllUsesWith(graph.insert(kToBlocked, {result}));
    node->destroy();
  }
}

}  // namespace

std::unique_ptr<Engine> build_onednn_engine(const LoadedModule& loaded) {
  if (!loaded.device.is_cpu()) throw std::runtime_error("oneDNN runs on the CPU only");
  if (loaded.precision != Precision::kFloat32) throw std::runtime_error("fp32 only");
  auto [graph, self] = freeze_shard(loaded);
  torch::jit::FuseFrozenConvAddRelu(graph);
  torch::jit::ConvertFrozenOpsToMKLDNN(graph);
  mend_activations(*graph);
  torch::jit::FrozenLinearTranspose(graph);
  return std::make_unique<GraphEngine>(std::move(graph), std::move(self));
}

}  // namespace pareto::runtime
