// Pictures with their channels innermost: weights lie so too, and nothing else changes.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "runtime/torch/written_weights.h"
#include "tests/runtime/engines/written_module.h"

namespace pareto::runtime {
namespace {

using test::written_module;

/// Returns the constant weights that convolutions of a graph read, those in blocks too.
std::vector<at::Tensor> convolution_weights(torch::jit::Graph& graph) {
  std::vector<at::Tensor> weights;
  for_each_node(graph.block(), [&](torch::jit::Node* node) {
    if (node->kind() != c10::aten::conv2d && node->kind() != c10::aten::_convolution) return;
    weights.push_back(node->input(1)->node()->t(c10::attr::value));
  });
  return weights;
}

TEST(ChannelsLast, WeightsOfConvolutionsAreTurnedInBranchesToo) {
  const auto loaded =
      written_module(R"(
def run(self, x):
    y = torch.conv2d(x, self.a)
    if bool(y.sum() > 0):
        y = torch.conv2d(y, self.b)
    else:
        y = torch.conv2d(y, self.b, None, [1, 1])
    return (y,)
)",
                     {{"a", at::randn({4, 3, 3, 3})}, {"b", at::randn({4, 4, 2, 2})}});
  const EngineGraph engine = prepare_channels_last(loaded);
  EXPECT_EQ(engine.layout, Layout::kChannelsLast);
  const auto weights = convolution_weights(*engine.graph);
  ASSERT_EQ(weights.size(), 3U);
  for (const at::Tensor& weight : weights) {
    EXPECT_TRUE(weight.is_contiguous(at::MemoryFormat::ChannelsLast));
    EXPECT_TRUE(weight.equal(loaded.module.attr(weight.size(1) == 3 ? "a" : "b").toTensor()));
  }
  EXPECT_TRUE(loaded.module.attr("a").toTensor().is_contiguous()) << "the module's own stay";
}

TEST(ChannelsLast, WeightsThatAreComputedStay) {
  const auto loaded =
      written_module("def run(self, x):\n    return (torch.conv2d(x, x[:, :, :2, :2].relu()),)\n");
  const auto engine = build_engine("channels_last", loaded);
  const at::Tensor x = at::randn({2, 2, 5, 5});
  const at::Tensor expected = at::conv2d(x, x.narrow(2, 0, 2).narrow(3, 0, 2).relu());
  EXPECT_TRUE(engine->run({x}, nullptr)[0].toTensor().allclose(expected, 1e-4, 1e-5));
}

TEST(ChannelsLast, OtherRanksComputeTheSame) {
  const auto loaded =
      written_module(R"(
def run(self, x, y):
    a = torch.conv1d(x, self.line, None, [1], [1])
    b = torch.conv3d(y, self.block, None, [1, 1, 1])
    return (a, b)
)",
                     {{"line", at::randn({2, 3, 3})}, {"block", at::randn({2, 1, 2, 2, 2})}});
  const auto engine = build_engine("channels_last", loaded);
  const at::Tensor x = at::randn({2, 3, 8});
  const at::Tensor y = at::randn({1, 1, 4, 4, 4});
  const auto results = engine->run({x, y}, nullptr);
  EXPECT_TRUE(results[0].toTensor().allclose(
      at::conv1d(x, loaded.module.attr("line").toTensor(), {}, 1, 1), 1e-4, 1e-5));
  EXPECT_TRUE(results[1].toTensor().allclose(at::conv3d(y, loaded.module.attr("block").toTensor()),
                                             1e-4, 1e-5));
}

TEST(ChannelsLast, InBfloat16WeightsAreOfThatType) {
  auto loaded = written_module("def run(self, x):\n    return (torch.conv2d(x, self.a),)\n",
                               {{"a", at::randn({4, 3, 3, 3})}});
  loaded.precision = Precision::kBFloat16;
  const EngineGraph engine = prepare_channels_last(loaded);
  EXPECT_EQ(engine.precision, Precision::kBFloat16);
  const auto weights = convolution_weights(*engine.graph);
  ASSERT_EQ(weights.size(), 1U);
  EXPECT_EQ(weights[0].scalar_type(), at::kBFloat16);
  EXPECT_TRUE(weights[0].is_contiguous(at::MemoryFormat::ChannelsLast));
}

}  // namespace
}  // namespace pareto::runtime
