// Layers in a row on some rows of a result, against LibTorch's operators on the whole picture.
#include "runtime/kernels/layer_strips.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace pareto::runtime::kernels {
namespace {

constexpr auto kStripLayout = at::MemoryFormat::ChannelsLast;

/// Layers with their weights, and a picture.
struct StripProblem {
  std::deque<ConvolutionSpec> specs;
  std::deque<LayerWeights> weights;
  std::vector<StripLayer> layers;
  at::Tensor input;
  std::vector<std::int64_t> sizes;

  StripProblem(std::int64_t channels, std::int64_t height, std::int64_t width)
      : input(at::randn({1, channels, height, width}).contiguous(kStripLayout)),
        sizes(input.sizes().vec()) {}

  void add(std::int64_t out, std::int64_t kernel, std::int64_t stride, bool depthwise,
           Activation::Kind activation, bool adds = false) {
    ConvolutionSpec& spec = specs.emplace_back();
    const std::int64_t in = sizes[1];
    spec.groups = depthwise ? in : 1;
    if (depthwise) out = in;
    spec.weight = at::randn({out, in / spec.groups, kernel, kernel}) * 0.3;
    spec.bias = at::randn({out});
    spec.stride = {stride, stride};
    spec.padding = {kernel / 2, kernel / 2};
    spec.dilation = {1, 1};
    spec.activation.kind = activation;
    weights.emplace_back(spec.weight, spec.groups, std::make_shared<PackedWeights>());
    const auto after = at::conv2d(at::empty(sizes), spec.weight, {}, spec.stride, spec.padding,
                                  spec.dilation, spec.groups)
                           .sizes()
                           .vec();
    layers.push_back({{spec, spec.weight.sizes().vec(), sizes, after, adds, true}, weights.back()});
    sizes = after;
  }

  at::Tensor expected(const at::Tensor& factors, const at::Tensor& addend) const {
    at::Tensor picture = factors.defined() ? input * factors.view({1, -1, 1, 1}) : input;
    for (const ConvolutionSpec& spec : specs) {
      picture = at::conv2d(picture, spec.weight, spec.bias, spec.stride, spec.padding,
                           spec.dilation, spec.groups);
      if (&spec == &specs.back() && addend.defined()) picture = picture + addend;
      apply(spec.activation, picture);
    }
    return picture;
  }
};

/// Returns some 1 x 1, depthwise and dense layers.
std::unique_ptr<StripProblem> random_strips(std::mt19937& random, bool scales, bool adds) {
  const auto any = [&](int least, int most) {
    return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
  };
  auto problem = std::make_unique<StripProblem>(any(1, 20), any(6, 24), any(4, 14));
  const auto kind = [&] { return static_cast<Activation::Kind>(random() % 2 == 0 ? 1 : 4); };
  if (scales) problem->add(any(2, 20), 1, 1, false, kind());
  problem->add(any(1, 20), 1, 1, false, kind());
  if (any(0, 2) > 0) problem->add(0, 1 + 2 * any(1, 2), any(1, 2), true, kind());
  problem->add(any(1, 16), any(0, 3) == 0 ? 3 : 1, 1, false, kind(), adds);
  return problem;
}

TEST(LayerStrips, RowsAreThoseOfTheWholeAndNoOthersAreWritten) {
  std::mt19937 random(31);
  at::manual_seed(31);
  for (int round = 0; round < 60; ++round) {
    const bool scales = round % 3 == 0;
    const bool adds = round % 2 == 0;
    const auto problem = random_strips(random, scales, adds);
    const std::int64_t height = problem->sizes[2];
    const auto begin = static_cast<std::int64_t>(random() % static_cast<unsigned>(height));
    const std::int64_t end =
        begin + 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(height - begin));
    const at::Tensor factors = scales ? at::rand({problem->input.size(1)}) : at::Tensor();
    const at::Tensor addend =
        adds ? at::randn(problem->sizes).contiguous(kStripLayout) : at::Tensor();
    const at::Tensor expected = problem->expected(factors, addend);
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{10'000}, std::size_t{1} << 30}) {
      auto strips = LayerStrips::make(problem->layers, {begin, end}, bytes, scales);
      ASSERT_TRUE(strips);
      if (bytes == 0) {
        EXPECT_EQ(strips->count(), static_cast<std::size_t>(end - begin));
      } else if (bytes > 10'000) {
        EXPECT_EQ(strips->count(), 1U);
      }
      for (int turn = 0; turn < 2; ++turn) {
        const at::Tensor result = at::full(problem->sizes, -99.0).contiguous(kStripLayout);
        const at::Tensor sums = at::zeros({problem->sizes[1]});
        strips->run({.input = problem->input.data_ptr<float>(),
                     .result = result.data_ptr<float>(),
                     .addend = adds ? addend.data_ptr<float>() : nullptr,
                     .factors = scales ? factors.data_ptr<float>() : nullptr,
                     .sums = sums.data_ptr<float>()});
        const at::Tensor own = result.narrow(2, begin, end - begin);
        EXPECT_TRUE(own.allclose(expected.narrow(2, begin, end - begin), 1e-3, 1e-4))
            << "round " << round << ", " << bytes << " bytes, turn " << turn;
        EXPECT_TRUE(sums.allclose(own.sum({0, 2, 3}), 1e-3, 1e-3));
        EXPECT_TRUE(result.narrow(2, 0, begin).eq(-99).all().item<bool>());
        EXPECT_TRUE(result.narrow(2, end, height - end).eq(-99).all().item<bool>());
        strips->keep_weights();
      }
    }
  }
}

TEST(LayerStrips, NoRowsAreNoStrips) {
  StripProblem problem(3, 8, 8);
  problem.add(4, 1, 1, false, Activation::Kind::kRelu);
  problem.add(0, 3, 1, true, Activation::Kind::kRelu);
  auto strips = LayerStrips::make(problem.layers, {4, 4}, 1000, false);
  ASSERT_TRUE(strips);
  EXPECT_EQ(strips->count(), 0U);
  const at::Tensor result = at::full(problem.sizes, -99.0);
  strips->run({.input = problem.input.data_ptr<float>(), .result = result.data_ptr<float>()});
  EXPECT_TRUE(result.eq(-99).all().item<bool>());
}

TEST(LayerStrips, WhatOneDnnCannotComputeIsNone) {
  // The padding is wider than the kernel reaches: the first row's window lies above the picture.
  StripProblem problem(2, 6, 6);
  problem.add(2, 1, 1, false, Activation::Kind::kNone);
  ConvolutionSpec& spec = problem.specs.back();
  spec.padding = {2, 0};
  problem.layers.back().problem.output[2] = 10;
  EXPECT_FALSE(LayerStrips::make(problem.layers, {0, 10}, 0, false));
}

}  // namespace
}  // namespace pareto::runtime::kernels
