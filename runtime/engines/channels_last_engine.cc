// Pictures with the channel as the innermost dimension: convolutions then run without reordering
// their inputs.
#include <ATen/ATen.h>

#include <utility>

#include "runtime/engines/engine.h"

namespace pareto::runtime {
namespace {

void weights_to_channels_last(torch::jit::Block* block) {
  for (torch::jit::Node* node : block->nodes()) {
    for (torch::jit::Block* inner : node->blocks()) weights_to_channels_last(inner);
    if (node->kind() != c10::aten::conv2d && node->kind() != c10::aten::_convolution) continue;
    torch::jit::Node* weight = node->input(1)->node();
    if (weight->kind() != c10::prim::Constant || !weight->hasAttribute(c10::attr::value)) continue;
    const at::Tensor& tensor = weight->t(c10::attr::value);
    if (tensor.dim() != 4) continue;
    weight->t_(c10::attr::value, tensor.contiguous(at::MemoryFormat::ChannelsLast));
  }
}

}  // namespace

EngineGraph prepare_channels_last(const LoadedModule& loaded) {
  auto [graph, self] = freeze_shard(loaded);
  if (loaded.precision == Precision::kBFloat16) constants_to_bfloat16(*graph);
  weights_to_channels_last(graph->block());
  return {std::move(graph), std::move(self), {}, Layout::kChannelsLast, loaded.precision};
}

}  // namespace pareto::runtime
