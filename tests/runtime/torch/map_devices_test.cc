#include "runtime/torch/map_devices.h"

#include <gtest/gtest.h>

#include "runtime/torch/compat.h"
#include "runtime/torch/written_weights.h"
#include "tests/runtime/torch/module_of.h"

namespace pareto::runtime {
namespace {

/// Returns what "run" gives of ones, once its devices are the processor.
at::Tensor on_processor(const std::string& code) {
  torch::jit::Module module = module_of(code);
  map_devices(module, c10::kCPU);
  return module.get_method("run")({at::ones({2})}).toTensor();
}

TEST(MapDevices, ConstantsThatNameAGpuNameTheDeviceAtHand) {
  EXPECT_TRUE(on_processor("def run(self, x):\n"
                           "    return x + torch.ones([2], device=torch.device(\"cuda:0\"))\n")
                  .equal(at::full({2}, 2.0)));
  EXPECT_TRUE(on_processor("def run(self, x):\n"
                           "    return x.to(torch.device(\"cuda:7\"), 6, False, False) + 1\n")
                  .equal(at::full({2}, 2.0)));
}

TEST(MapDevices, TensorsThatGoToAGpuStay) {
  EXPECT_TRUE(on_processor("def run(self, x):\n    return x.cuda() + x.cuda()\n")
                  .equal(at::full({2}, 2.0)));
}

TEST(MapDevices, BranchesLoopsAndOtherMethodsAreMappedToo) {
  EXPECT_TRUE(on_processor(R"(
def help(self, x):
    return x + torch.ones([2], device=torch.device("cuda"))
def run(self, x):
    for i in range(2):
        if bool(x.sum() > 0):
            x = x + torch.ones([2], device=torch.device("cuda:1"))
        else:
            x = x.cuda()
    return self.help(x)
)")
                  .equal(at::full({2}, 4.0)));
}

TEST(MapDevices, CodeWithoutDevicesStaysAsItIs) {
  const torch::jit::Module module = module_of("def run(self, x):\n    return torch.relu(x)\n");
  const std::string before = module.get_method("run").graph()->toString(false);
  map_devices(module, c10::kCPU);
  EXPECT_EQ(module.get_method("run").graph()->toString(false), before);
}

TEST(MapDevices, NoOtherDeviceIsLeft) {
  const torch::jit::Module module =
      module_of("def run(self, x):\n    return x.to(torch.device(\"cuda:3\"))\n");
  map_devices(module, c10::kCPU);
  int devices = 0;
  const auto graph = module.get_method("run").graph();
  for_each_node(graph->block(), [&](torch::jit::Node* node) {
    const auto value = node->outputs().size() == 1 ? torch::jit::toIValue(node->output())
                                                   : torch::jit::toIValue(graph->inputs()[0]);
    if (!value || !value->isDevice()) return;
    EXPECT_TRUE(value->toDevice().is_cpu());
    ++devices;
  });
  EXPECT_EQ(devices, 1);
}

}  // namespace
}  // namespace pareto::runtime
