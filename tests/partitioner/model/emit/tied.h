// A model of which two weights are one tensor. Sees LibTorch.
#pragma once

#include "tests/partitioner/scripted.h"

namespace pareto::test {

/// Takes vectors of four: "4".
inline torch::jit::Module tied() {
  torch::manual_seed(2);
  torch::jit::Module module("__torch__.Tied");
  const auto shared = torch::randn({4, 4});
  module.register_parameter("encoder", shared, false);
  module.register_parameter("decoder", shared, false);
  module.register_buffer("offset", torch::randn({4}));
  module.define(R"(
def forward(self, x):
    y = torch.relu(x.matmul(self.encoder)) + self.offset
    return torch.sigmoid(y.matmul(self.decoder))
)");
  return module;
}

}  // namespace pareto::test
