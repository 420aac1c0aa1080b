// Blocks of mobile networks in the prepacked engine's graph: which become one operator, which not.
#include "runtime/engines/convolution_chains.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "runtime/kernels/convolution_chain.h"
#include "runtime/kernels/packed_convolution.h"
#include "tests/runtime/engines/written_module.h"

namespace pareto::runtime {
namespace {

using test::written_module;

constexpr std::int64_t kWide = 32;

/// Returns a module with layers of a block: expand, depthwise, squeeze, excite, project.
LoadedModule block_of(const std::string& lines) {
  return written_module("def run(self, x):\n" + lines, {{"e", at::randn({kWide, 8, 1, 1}) * 0.3},
                                                        {"d", at::randn({kWide, 1, 3, 3}) * 0.3},
                                                        {"s", at::randn({4, kWide, 1, 1}) * 0.3},
                                                        {"x", at::randn({kWide, 4, 1, 1}) * 0.3},
                                                        {"p", at::randn({8, kWide, 1, 1}) * 0.3}});
}

const std::string kExpandLayer = "    a = torch.relu(torch.conv2d(x, self.e))\n";
const std::string kDepthwiseLayer =
    "    b = torch.relu(torch.conv2d(a, self.d, None, [1, 1], [1, 1], [1, 1], 32))\n";
const std::string kProjectLayer = "    c = torch.conv2d(b, self.p)\n";

struct ChainCounts {
  std::size_t chains = 0;
  std::size_t layers = 0;  ///< layers that run by themselves
  bool operator==(const ChainCounts&) const = default;
};

/// Counts operators of the prepacked engine's graph, which has to compute what the plain one does.
ChainCounts counts_of(const std::string& lines) {
  at::manual_seed(9);
  const LoadedModule loaded = block_of(lines);
  const EngineGraph engine = prepare_prepacked(loaded);
  ChainCounts counts;
  for (const torch::jit::Node* node : engine.graph->nodes()) {
    counts.chains += node->kind() == kernels::convolution_chain_symbol() ? 1 : 0;
    counts.layers += node->kind() == kernels::packed_convolution_symbol() ? 1 : 0;
  }
  for (const std::int64_t batch : {1, 3}) {
    const at::Tensor x = at::randn({batch, 8, 12, 10});
    const auto expected = build_engine("plain", loaded)->run({x}, nullptr);
    const auto found = build_engine("prepacked", loaded)->run({x}, nullptr);
    EXPECT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
      EXPECT_TRUE(found[i].toTensor().allclose(expected[i].toTensor(), 1e-3, 1e-4)) << lines;
    }
  }
  return counts;
}

TEST(ConvolutionChains, ABlockIsOneOperator) {
  EXPECT_EQ(counts_of(kExpandLayer + kDepthwiseLayer + kProjectLayer + "    return (c,)\n"),
            (ChainCounts{1, 0}));
  EXPECT_EQ(counts_of(kExpandLayer + kDepthwiseLayer + kProjectLayer + "    return (c + x,)\n"),
            (ChainCounts{1, 0}))
      << "with what it adds";
}

TEST(ConvolutionChains, ABlockWithAGateIsOneToo) {
  for (const char* const mean : {"torch.adaptive_avg_pool2d(b, [1, 1])",
                                 "torch.mean(b, [2, 3], True)", "torch.mean(b, [-1, -2], True)"}) {
    const std::string gate = "    m = " + std::string(mean) +
                             "\n    s = torch.relu(torch.conv2d(m, self.s))\n"
                             "    g = torch.hardsigmoid(torch.conv2d(s, self.x))\n";
    EXPECT_EQ(counts_of(kExpandLayer + kDepthwiseLayer + gate +
                        "    c = torch.conv2d(b * g, self.p)\n    return (c,)\n"),
              (ChainCounts{1, 0}))
        << mean;
    EXPECT_EQ(counts_of(kExpandLayer + kDepthwiseLayer + gate +
                        "    c = torch.conv2d(g * b, self.p)\n    return (c,)\n"),
              (ChainCounts{1, 0}))
        << mean;
  }
}

TEST(ConvolutionChains, WhatSomebodyElseReadsIsLeftAlone) {
  EXPECT_EQ(
      counts_of(kExpandLayer + kDepthwiseLayer + kProjectLayer + "    return (c, b)\n").chains, 0U);
  EXPECT_EQ(counts_of(kExpandLayer + kDepthwiseLayer + kProjectLayer + "    return (c, b.sum())\n")
                .chains,
            0U);
  // The expansion runs by itself then, and the rest is a chain.
  EXPECT_EQ(counts_of(kExpandLayer + kDepthwiseLayer + kProjectLayer + "    return (c, a)\n"),
            (ChainCounts{1, 1}));
}

TEST(ConvolutionChains, AGateOfAnotherKindIsNone) {
  const auto with_gate = [](const std::string& gate) {
    return counts_of(kExpandLayer + kDepthwiseLayer + gate +
                     "    return (torch.conv2d(b * g, self.p),)\n")
        .chains;
  };
  const std::string layers =
      "    g = torch.hardsigmoid(torch.conv2d(torch.relu(torch.conv2d(m, self.s)), self.x))\n";
  EXPECT_EQ(with_gate("    m = torch.adaptive_avg_pool2d(b, [1, 1])\n" + layers), 1U);
  EXPECT_EQ(with_gate("    m = torch.adaptive_avg_pool2d(b, [2, 1])[:, :, :1]\n" + layers), 0U);
  EXPECT_EQ(with_gate("    m = torch.adaptive_max_pool2d(b, [1, 1])[0]\n" + layers), 0U);
  EXPECT_EQ(with_gate("    m = torch.mean(b, [2], True)[:, :, :, :1]\n" + layers), 0U);
  EXPECT_EQ(with_gate("    g = torch.sigmoid(torch.mean(b, [2, 3], True))\n"), 0U);
}

TEST(ConvolutionChains, LayersThatAreNoBlockStay) {
  EXPECT_EQ(counts_of("    a = torch.conv2d(x, self.e)\n    return (torch.conv2d(a, self.p),)\n"),
            (ChainCounts{0, 2}))
      << "none is depthwise";
  EXPECT_EQ(counts_of(kExpandLayer + kDepthwiseLayer + "    return (b,)\n"), (ChainCounts{0, 2}));
  EXPECT_EQ(counts_of(kExpandLayer +
                      "    b = torch.conv2d(a, self.d, None, [1, 1], [2, 2], [2, 2], 32)\n" +
                      kProjectLayer + "    return (c,)\n")
                .chains,
            0U)
      << "with a dilation";
}

TEST(ConvolutionChains, SeveralBlocksAreSeveral) {
  const std::string again =
      "    d = torch.relu(torch.conv2d(c, self.e))\n"
      "    f = torch.relu(torch.conv2d(d, self.d, None, [1, 1], [1, 1], [1, 1], 32))\n"
      "    h = torch.conv2d(f, self.p) + c\n";
  EXPECT_EQ(counts_of(kExpandLayer + kDepthwiseLayer + kProjectLayer + again + "    return (h,)\n"),
            (ChainCounts{2, 0}));
}

}  // namespace
}  // namespace pareto::runtime
