// What a frozen shard leaves behind.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/script.h>

#include <vector>

#include "runtime/engines/engine.h"

namespace pareto::runtime {
namespace {

using WeakTensor = c10::weak_intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>;

LoadedModule convolution_with_norm() {
  torch::jit::Module module("__torch__.Shard");
  module.register_attribute("training", c10::BoolType::get(), false);
  module.register_parameter("a", at::randn({8, 3, 3, 3}), false);
  for (const char* name : {"gamma", "beta", "mean", "var"}) {
    module.register_parameter(name, at::rand({8}) + 0.5, false);
  }
  module.define(R"(
def run(self, x):
    y = torch.conv2d(x, self.a)
    return (torch.batch_norm(y, self.gamma, self.beta, self.mean, self.var, False, 0.1, 1e-5, True),)
)");
  return {std::move(module)};
}

std::vector<WeakTensor> constants_of(torch::jit::Graph& graph) {
  std::vector<WeakTensor> found;
  for (const torch::jit::Node* node : graph.nodes()) {
    if (node->kind() != c10::prim::Constant) continue;
    const auto value = torch::jit::toIValue(node->output());
    if (value && value->isTensor()) found.emplace_back(value->toTensor().getIntrusivePtr());
  }
  return found;
}

TEST(FreezeShard, ItsFoldedWeightsGoWithItAlthoughTheModuleStays) {
  const LoadedModule loaded = convolution_with_norm();
  for (int engine = 0; engine < 2; ++engine) {
    FrozenShard frozen = freeze_shard(loaded);
    const std::vector<WeakTensor> folded = constants_of(*frozen.graph);
    ASSERT_FALSE(folded.empty());
    for (const WeakTensor& weight : folded) EXPECT_FALSE(weight.expired());
    frozen = {};
    for (const WeakTensor& weight : folded) EXPECT_TRUE(weight.expired());
  }
}

}  // namespace
}  // namespace pareto::runtime
