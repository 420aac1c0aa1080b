// A small network of common layers. Sees LibTorch.
#pragma once

#include <torch/script.h>

namespace pareto::test {

/// Returns conv (3 -> 8, 3x3) -> relu -> flatten -> linear (to 10).
inline torch::jit::Module small_net() {
  torch::manual_seed(1);
  torch::jit::Module module("__torch__.Small");
  module.register_parameter("conv.weight", torch::randn({8, 3, 3, 3}), false);
  module.register_parameter("conv.bias", torch::randn({8}), false);
  module.register_parameter("fc", torch::randn({10, 8 * 6 * 6}), false);
  // Dotted attribute names cannot be written in source.
  module.register_parameter("cw", module.attr("conv.weight").toTensor(), false);
  module.register_parameter("cb", module.attr("conv.bias").toTensor(), false);
  module.define(R"(
def forward(self, x):
    y = torch.relu(torch.conv2d(x, self.cw, self.cb))
    return torch.linear(y.flatten(1), self.fc)
)");
  return module;
}

}  // namespace pareto::test
