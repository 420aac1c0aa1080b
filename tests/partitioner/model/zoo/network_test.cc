// The language of the built-in models, word by word, against LibTorch's own operators.
#include "partitioner/model/zoo/network.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <functional>

namespace pareto::model::zoo {
namespace {

/// Runs what `build` makes of a picture, with the weights that it got.
at::Tensor run(const std::function<Network::Value(Network&)>& build, const at::Tensor& picture,
               std::vector<FlatWeight>* weights = nullptr) {
  Network net("test", 3);
  const Flat flat = net.finish(build(net));
  torch::jit::Stack stack{picture};
  for (const FlatWeight& weight : flat.weights) stack.emplace_back(weight.tensor);
  torch::jit::InterpreterState(torch::jit::Code(flat.graph, "run")).run(stack);
  if (weights != nullptr) *weights = flat.weights;
  return stack.back().toTensor();
}

at::Tensor picture() { return at::randn({2, 4, 9, 7}); }

TEST(Network, ConvolutionsAreThoseOfTheirSpec) {
  for (const ConvSpec& spec :
       {ConvSpec{.in = 4, .out = 6},
        ConvSpec{.in = 4, .out = 6, .kernel = {3, 1}, .padding = {1, 0}, .bias = true},
        ConvSpec{.in = 4, .out = 8, .kernel = {2, 3}, .stride = {2, 1}, .groups = 2},
        ConvSpec{.in = 4, .out = 4, .kernel = {3, 3}, .padding = {1, 1}, .groups = 4}}) {
    const at::Tensor x = picture();
    std::vector<FlatWeight> weights;
    const at::Tensor found =
        run([&](Network& net) { return net.conv(net.input(), "c", spec); }, x, &weights);
    ASSERT_EQ(weights.size(), spec.bias ? 2U : 1U);
    EXPECT_EQ(weights[0].name, "c.weight");
    EXPECT_EQ(weights[0].tensor.sizes(),
              at::IntArrayRef({spec.out, spec.in / spec.groups, spec.kernel[0], spec.kernel[1]}));
    const at::Tensor bias = spec.bias ? weights[1].tensor : at::Tensor();
    EXPECT_TRUE(found.equal(
        at::conv2d(x, weights[0].tensor, bias, spec.stride, spec.padding, {1, 1}, spec.groups)));
  }
}

TEST(Network, LayersWithoutWeightsAreLibTorchs) {
  const at::Tensor x = picture() * 5;
  const auto one = [&](auto layer) {
    return run([&](Network& net) { return layer(net, net.input()); }, x);
  };
  using Value = Network::Value;
  EXPECT_TRUE(one([](Network& n, Value v) { return n.relu(v, "a"); }).equal(at::relu(x)));
  EXPECT_TRUE(one([](Network& n, Value v) { return n.relu6(v, "a"); }).equal(at::clamp(x, 0, 6)));
  EXPECT_TRUE(one([](Network& n, Value v) { return n.hardswish(v, "a"); }).equal(at::hardswish(x)));
  EXPECT_TRUE(
      one([](Network& n, Value v) { return n.hardsigmoid(v, "a"); }).equal(at::hardsigmoid(x)));
  EXPECT_TRUE(one([](Network& n, Value v) { return n.add(v, v, "a"); }).equal(x + x));
  EXPECT_TRUE(one([](Network& n, Value v) { return n.multiply(v, v, "a"); }).equal(x * x));
  EXPECT_TRUE(one([](Network& n, Value v) { return n.flatten(v); }).equal(x.flatten(1)));
  EXPECT_TRUE(one([](Network& n, Value v) {
                return n.concat({v, v}, "a");
              }).equal(at::cat({x, x}, 1)));
  EXPECT_TRUE(one([](Network& n, Value v) {
                return n.adaptive_avg_pool(v, "a", 3);
              }).equal(at::adaptive_avg_pool2d(x, {3, 3})));
  const PoolSpec pool{.kernel = 3, .stride = 2, .padding = 1, .ceil = true};
  EXPECT_TRUE(one([&](Network& n, Value v) {
                return n.max_pool(v, "a", pool);
              }).equal(at::max_pool2d(x, {3, 3}, {2, 2}, {1, 1}, {1, 1}, true)));
  EXPECT_TRUE(one([&](Network& n, Value v) {
                return n.avg_pool(v, "a", pool);
              }).equal(at::avg_pool2d(x, {3, 3}, {2, 2}, {1, 1}, true)));
}

TEST(Network, FreshNormsChangeNothingButByTheirEpsilon) {
  const at::Tensor x = picture();
  std::vector<FlatWeight> weights;
  const at::Tensor found =
      run([](Network& net) { return net.batch_norm(net.input(), "n", 4, 0.5); }, x, &weights);
  EXPECT_TRUE(at::allclose(found, x / std::sqrt(1.5)));
  ASSERT_EQ(weights.size(), 4U);
  EXPECT_EQ(weights[2].name, "n.running_mean");
  EXPECT_FALSE(weights[2].is_parameter);
  EXPECT_TRUE(weights[0].is_parameter);
}

TEST(Network, WeightsFollowFromTheirNamesAndTheSeed) {
  const auto weights_of = [](std::uint64_t seed, const std::string& first) {
    Network net("test", seed);
    auto x = net.conv(net.input(), first, {.in = 4, .out = 8, .kernel = {3, 3}});
    x = net.conv(x, "other", {.in = 8, .out = 8, .kernel = {3, 3}});
    return net.finish(x).weights;
  };
  const auto one = weights_of(1, "a");
  EXPECT_TRUE(one[0].tensor.equal(weights_of(1, "a")[0].tensor));
  EXPECT_FALSE(one[0].tensor.equal(weights_of(2, "a")[0].tensor));
  EXPECT_FALSE(one[0].tensor.equal(weights_of(1, "b")[0].tensor));
  // What is called otherwise before it does not matter.
  EXPECT_TRUE(one[1].tensor.equal(weights_of(1, "b")[1].tensor));
}

TEST(Network, WeightsKeepActivationsAsLargeAsTheyAre) {
  at::manual_seed(1);
  const at::Tensor x = at::randn({1, 32, 16, 16});
  // Twenty layers: a factor of 1.2 a layer would be one of 38.
  const at::Tensor y = run(
      [](Network& net) {
        Network::Value v = net.input();
        for (int i = 0; i < 20; ++i) {
          v = net.conv(v, "c" + std::to_string(i),
                       {.in = 32, .out = 32, .kernel = {3, 3}, .padding = {1, 1}});
          v = net.relu(v, "r");
        }
        return v;
      },
      x);
  EXPECT_GT(y.abs().mean().item<double>(), 0.02);
  EXPECT_LT(y.abs().mean().item<double>(), 50);
  std::vector<FlatWeight> weights;
  run([](Network& net) { return net.linear(net.flatten(net.input()), "l", 8192, 64); }, x,
      &weights);
  const at::Tensor& w = weights[0].tensor;
  EXPECT_LE(w.abs().max().item<double>(), std::sqrt(3.0 / 8192));
  EXPECT_GT(w.abs().max().item<double>(), 0.99 * std::sqrt(3.0 / 8192));
  EXPECT_NEAR(w.mean().item<double>(), 0, 1e-4) << "as many below zero as above";
}

}  // namespace
}  // namespace pareto::model::zoo
