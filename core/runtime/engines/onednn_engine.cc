// Convolutions and what surrounds them in oneDNN's own blocked layouts: what
// torch.jit.optimize_for_inference does, for a method that is not called forward.
#include <torch/csrc/jit/passes/frozen_conv_add_relu_fusion.h>
#include <torch/csrc/jit/passes/frozen_linear_transpose.h>
#include <torch/csrc/jit/passes/frozen_ops_to_mkldnn.h>

#include <stdexcept>
#include <utility>

#include "core/runtime/engines/engine.h"

namespace pareto::runtime {

std::unique_ptr<Engine> build_onednn_engine(const LoadedModule& loaded) {
  if (!loaded.device.is_cpu()) throw std::runtime_error("oneDNN runs on the CPU only");
  if (loaded.precision != Precision::kFloat32) throw std::runtime_error("fp32 only");
  auto [graph, self] = freeze_shard(loaded);
  torch::jit::FuseFrozenConvAddRelu(graph);
  torch::jit::ConvertFrozenOpsToMKLDNN(graph);
  torch::jit::FrozenLinearTranspose(graph);
  return std::make_unique<GraphEngine>(std::move(graph), std::move(self));
}

}  // namespace pareto::runtime
