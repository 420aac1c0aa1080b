// What the prepacked engine fuses, and what it must leave alone.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/runtime/engines/written_module.h"

namespace pareto::runtime {
namespace {

using test::written_module;
using Values = std::vector<c10::IValue>;

/// Layers in a row over pictures of 16 channels, each reading what the one before made, or an
/// earlier one as well.
std::string random_code(std::mt19937_64& random, int layers) {
  std::string code = "\ndef run(self, x):\n    y0 = x\n";
  for (int i = 1; i <= layers; ++i) {
    const std::string before = "y" + std::to_string(i - 1);
    const std::string any = "y" + std::to_string(random() % static_cast<std::uint64_t>(i));
    const char* const weight = random() % 2 == 0 ? "self.a" : "self.b";
    const std::string convolution =
        "torch.conv2d(" + before + ", " + weight + ", " + (random() % 2 == 0 ? "self.c" : "None") +
        ", [1, 1], [1, 1], [1, 1], " + (weight[5] == 'a' ? "1" : "16") + ")";
    std::string line;
    switch (random() % 10) {
      case 0:
        line = convolution;
        break;
      case 1:
        line = "torch.relu(" + convolution + ")";
        break;
      case 2:
        line = convolution + " + " + any;
        break;
      case 3:
        line = "torch.relu(" + any + " + " + convolution + ")";
        break;
      case 4:
        line = "torch.hardswish(" + convolution + " + " + any + ")";
        break;
      case 5:
        line = "torch.hardtanh(" + before + ", -1., 1.)";
        break;
      case 6:
        line = "torch.add(" + convolution + ", " + any + ", alpha=2)";
        break;
      case 7:
        line = "torch.max_pool2d(" + before + ", [3, 3], [1, 1], [1, 1])";
        break;
      case 8:
        line = convolution + " * " + any;
        break;
      default:
        line = "torch.relu_(" + convolution + ") - " + any;
    }
    code += "    y" + std::to_string(i) + " = " + line + "\n";
  }
  // Some that are in the middle are results, too.
  return code + "    return (y" + std::to_string(layers) + ", y" + std::to_string(layers / 2) +
         ", y" + std::to_string(layers - 1) + ")\n";
}

TEST(PrepackedEngine, OfRandomNetworksAgreesWithPlain) {
  std::mt19937_64 random(21);
  at::manual_seed(21);
  for (int i = 0; i < 60; ++i) {
    const std::string code = random_code(random, 2 + static_cast<int>(random() % 8));
    const LoadedModule loaded = written_module(code, {{"a", at::randn({16, 16, 3, 3}) * 0.05},
                                                      {"b", at::randn({16, 1, 3, 3}) * 0.2},
                                                      {"c", at::randn({16})}});
    const auto engine = build_engine("prepacked", loaded);
    const auto plain = build_engine("plain", loaded);
    const Values inputs{at::randn({1 + i % 2, 16, 5 + i % 7, 6})};
    const Values expected = plain->run(Values{inputs[0].toTensor().clone()}, nullptr);
    for (int turn = 0; turn < 2; ++turn) {
      const Values results = engine->run(Values{inputs[0].toTensor().clone()}, nullptr);
      for (std::size_t result = 0; result < expected.size(); ++result) {
        const at::Tensor& b = expected[result].toTensor();
        const double largest = std::max(1.0, b.abs().max().item<double>());
        ASSERT_LT((results[result].toTensor() - b).abs().max().item<double>(), 1e-4 * largest)
            << "network " << i << code << " result " << result << " turn " << turn;
      }
    }
  }
}

TEST(PrepackedEngine, KeepsWeightsOfItsOwn) {
  const test::Case one = test::winograd_blocks();
  const auto engine = build_engine("prepacked", one.loaded);
  engine->run(Values(one.inputs), nullptr);
  EXPECT_GE(engine->packed_bytes(), 2U * 32 * 32 * 9 * 4);
  EXPECT_EQ(build_engine("plain", one.loaded)->packed_bytes(), 0U);
}

TEST(PrepackedEngine, LeavesWeightsThatAreComputedToLibTorch) {
  const LoadedModule loaded = written_module(R"(
def run(self, x, w):
    y = torch.conv2d(torch.conv2d(x, self.a), w * 2)
    z = torch.conv2d(y, self.a + w)
    return (torch.linear(z.mean([2, 3]), w.flatten(1)),)
)",
                                             {{"a", at::randn({3, 3, 1, 1})}});
  const Values inputs{at::randn({2, 3, 4, 4}), at::randn({3, 3, 1, 1})};
  const Values expected = build_engine("plain", loaded)->run(Values(inputs), nullptr);
  const Values results = build_engine("prepacked", loaded)->run(Values(inputs), nullptr);
  EXPECT_TRUE(at::allclose(results[0].toTensor(), expected[0].toTensor(), 1e-4, 1e-5));
}

TEST(PrepackedEngine, TakesABatchNormOfPicturesForAConvolution) {
  at::manual_seed(21);
  const LoadedModule loaded = written_module(R"(
def run(self, x, y):
    a = torch.cat([x, torch.conv2d(x, self.w)], 1)
    b = torch.relu(torch.batch_norm(a, self.gamma, self.beta, self.mean, self.var, False, 0.1, 1e-5, True))
    c = torch.batch_norm(a, None, None, self.mean, self.var, False, 0.1, 1e-3, True)
    d = torch.batch_norm(y, self.gamma, self.beta, self.mean, self.var, False, 0.1, 1e-5, True)
    return (b, c, d)
)",
                                             {{"w", at::randn({13, 7, 1, 1})},
                                              {"gamma", at::rand({20}) + 0.5},
                                              {"beta", at::randn({20})},
                                              {"mean", at::randn({20})},
                                              {"var", at::rand({20}) + 0.5}});
  std::size_t left = 0;
  const EngineGraph prepared = prepare_prepacked(loaded);
  for (const torch::jit::Node* node : prepared.graph->nodes()) {
    left += node->kind() == c10::aten::batch_norm ? 1 : 0;
  }
  EXPECT_EQ(left, 1U) << "the one whose rank nobody knows";
  const Values inputs{at::randn({2, 7, 6, 5}), at::randn({9, 20})};
  const Values expected = build_engine("plain", loaded)->run(Values(inputs), nullptr);
  const Values results = build_engine("prepacked", loaded)->run(Values(inputs), nullptr);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(at::allclose(results[i].toTensor(), expected[i].toTensor(), 1e-4, 1e-4)) << i;
  }
}

TEST(PrepackedEngine, LeavesBiasesOfAnotherSizeToLibTorch) {
  // One that every output of a linear layer shares.
  const LoadedModule shared = written_module(R"(
def run(self, x):
    return (torch.linear(torch.linear(x, self.a), self.a, self.b),)
)",
                                             {{"a", at::randn({5, 5})}, {"b", at::randn({1})}});
  const Values inputs{at::randn({3, 5})};
  const Values expected = build_engine("plain", shared)->run(Values(inputs), nullptr);
  const Values results = build_engine("prepacked", shared)->run(Values(inputs), nullptr);
  EXPECT_TRUE(at::allclose(results[0].toTensor(), expected[0].toTensor(), 1e-4, 1e-5));
  // One that is too short for a convolution, after another of the same sizes was timed.
  const LoadedModule wrong =
      written_module(R"(
def run(self, x):
    y = torch.conv2d(x, self.a, None, [1, 1], [1, 1])
    return (torch.conv2d(y, self.a, self.b, [1, 1], [1, 1]),)
)",
                     {{"a", at::randn({32, 32, 3, 3})}, {"b", at::randn({1})}});
  EXPECT_ANY_THROW(build_engine("prepacked", wrong)->run({at::randn({1, 32, 9, 9})}, nullptr));
}

TEST(PrepackedEngine, ASumThatIsReadTwiceIsNotWrittenOver) {
  const LoadedModule loaded = written_module(R"(
def run(self, x):
    a = torch.relu(x)
    b = torch.conv2d(x, self.w) + a
    c = torch.conv2d(x, self.w) + a
    return (b, c, a)
)",
                                             {{"w", at::randn({16, 16, 1, 1})}});
  const Values inputs{at::randn({1, 16, 5, 5})};
  const Values expected = build_engine("plain", loaded)->run(Values(inputs), nullptr);
  const Values results = build_engine("prepacked", loaded)->run(Values(inputs), nullptr);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(at::allclose(results[i].toTensor(), expected[i].toTensor(), 1e-4, 1e-5)) << i;
  }
}

TEST(PrepackedEngine, AnAddendOfAnotherShapeIsSpreadAsLibTorchSpreadsIt) {
  const LoadedModule loaded = written_module(R"(
def run(self, x, y):
    return (torch.relu(torch.conv2d(x, self.w) + y), torch.conv2d(x, self.w) + 1.5)
)",
                                             {{"w", at::randn({16, 16, 1, 1})}});
  for (const at::Tensor& addend : {at::randn({16, 1, 1}), at::randn({1}), at::randn({1, 16, 5, 5}),
                                   at::randn({4, 16, 5, 5})}) {
    const Values inputs{at::randn({1, 16, 5, 5}), addend};
    const Values expected = build_engine("plain", loaded)->run(Values(inputs), nullptr);
    const Values results = build_engine("prepacked", loaded)->run(Values(inputs), nullptr);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(results[i].toTensor().sizes(), expected[i].toTensor().sizes()) << addend.sizes();
      EXPECT_TRUE(at::allclose(results[i].toTensor(), expected[i].toTensor(), 1e-4, 1e-5))
          << addend.sizes();
    }
  }
}

std::size_t count_of(const LoadedModule& loaded, const char* kind) {
  const EngineGraph prepared = prepare_prepacked(loaded);
  std::size_t count = 0;
  for (const torch::jit::Node* node : prepared.graph->nodes()) {
    count += node->kind() == c10::Symbol::fromQualString(kind) ? 1 : 0;
  }
  return count;
}

/// Weights of a block that makes 12 channels 24, with a gate of 6.
test::NamedTensors weights_of_block() {
  return {{"expand", at::randn({24, 12, 1, 1}) * 0.3},
          {"depthwise", at::randn({24, 1, 3, 3}) * 0.3},
          {"bias", at::randn({24})},
          {"squeeze", at::randn({6, 24, 1, 1}) * 0.3},
          {"excite", at::randn({24, 6, 1, 1}) * 0.3},
          {"project", at::randn({12, 24, 1, 1}) * 0.3}};
}

constexpr const char* kExpand = "    a = torch.silu(torch.conv2d(x, self.expand, self.bias))\n";
constexpr const char* kDepthwise =
    "    b = torch.hardswish(torch.conv2d(a, self.depthwise, self.bias, [1, 1], [1, 1], [1, 1], "
    "24))\n";
constexpr const char* kGate =
    "    s = torch.relu(torch.conv2d(m, self.squeeze))\n"
    "    s = torch.sigmoid(torch.conv2d(s, self.excite, self.bias))\n";

void expect_plain(const LoadedModule& loaded, const std::string& code) {
  for (const std::int64_t batch : {1, 3}) {
    const Values inputs{at::randn({batch, 12, 9, 7})};
    const auto engine = build_engine("prepacked", loaded);
    const auto clone = [&] { return Values{inputs[0].toTensor().clone()}; };
    const Values expected = build_engine("plain", loaded)->run(clone(), nullptr);
    for (int turn = 0; turn < 2; ++turn) {
      const Values results = engine->run(clone(), nullptr);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_TRUE(at::allclose(results[i].toTensor(), expected[i].toTensor(), 1e-4, 1e-4))
            << code << " result " << i << " batch " << batch;
      }
    }
  }
}

TEST(PrepackedEngine, MakesOneOperatorOfABlockOfAMobileNetwork) {
  at::manual_seed(3);
  const std::string begin = std::string("\ndef run(self, x):\n") + kExpand + kDepthwise;
  const std::string end =
      "    y = torch.conv2d(g, self.project) + x\n    return (torch.relu(y), y)\n";
  for (const std::string& middle :
       {std::string("    g = b\n"),
        std::string("    m = torch.adaptive_avg_pool2d(b, [1, 1])\n") + kGate + "    g = s * b\n",
        std::string("    m = torch.mean(b, [2, 3], True)\n") + kGate + "    g = b * s\n",
        std::string("    m = torch.mean(b, [-1, -2], True)\n") + kGate + "    g = b * s\n"}) {
    const std::string code = begin + middle + end;
    const LoadedModule loaded = written_module(code, weights_of_block());
    EXPECT_EQ(count_of(loaded, "pareto::chain"), 1U) << code;
    EXPECT_EQ(count_of(loaded, "pareto::convolution"), 0U) << code;
    EXPECT_EQ(count_of(loaded, "aten::mul"), 0U) << code;
    expect_plain(loaded, code);
  }
}

TEST(PrepackedEngine, LeavesBlocksWhosePartsOthersRead) {
  at::manual_seed(4);
  const std::string begin = std::string("\ndef run(self, x):\n") + kExpand + kDepthwise;
  const std::string mean = "    m = torch.adaptive_avg_pool2d(b, [1, 1])\n";
  const std::string end = "    y = torch.conv2d(g, self.project)\n";
  struct Left {
    std::string code;
    std::size_t chains;
  };
  for (const Left& left :
       {// The depthwise layer's result goes elsewhere too.
        Left{begin + "    g = b\n" + end + "    return (y, b)\n", 0},
        // The gate multiplies something else, or is read twice.
        Left{begin + mean + kGate + "    g = s * a\n" + end + "    return (y, b)\n", 0},
        Left{begin + mean + kGate + "    g = s * b\n" + end + "    return (y, s)\n", 0},
        // A mean over more than pixels.
        Left{begin + "    m = torch.mean(b, [0, 2, 3], True)\n" + kGate + "    g = b * s\n" + end +
                 "    return (y, x)\n",
             0},
        // The first layer's result goes elsewhere too: the block begins behind it.
        Left{begin + "    g = b\n" + end + "    return (y, a)\n", 1}}) {
    const LoadedModule loaded = written_module(left.code, weights_of_block());
    EXPECT_EQ(count_of(loaded, "pareto::chain"), left.chains) << left.code;
    expect_plain(loaded, left.code);
  }
}

}  // namespace
}  // namespace pareto::runtime
