// Winograd's convolution against LibTorch's plain operator, on shapes nobody chose.
#include "runtime/kernels/winograd_convolution.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <random>

#include "core/base/thread_pool.h"

namespace pareto::runtime::kernels {
namespace {

constexpr auto kInChannelsLast = at::MemoryFormat::ChannelsLast;

ConvolutionSpec random_winograd_spec(std::mt19937_64& random) {
  ConvolutionSpec spec;
  const auto channels = [&] { return static_cast<std::int64_t>(16 * (1 + random() % 4)); };
  const std::int64_t in = channels();
  spec.weight = at::randn({channels(), in, 3, 3}) / std::sqrt(9.0 * static_cast<double>(in));
  if (random() % 2 == 0) spec.bias = at::randn({spec.weight.size(0)});
  spec.stride = spec.dilation = {1, 1};
  // Not the same above as at the sides.
  spec.padding = {static_cast<std::int64_t>(random() % 3), static_cast<std::int64_t>(random() % 3)};
  spec.packed = std::make_shared<PackedWeights>();
  if (random() % 3 == 0) spec.activation = {Activation::Kind::kClamp, -0.25F, 0.5F};
  if (random() % 3 == 1) spec.activation.kind = Activation::Kind::kRelu;
  return spec;
}

at::Tensor winograd_activated(const at::Tensor& tensor, const Activation& activation) {
  if (activation.kind == Activation::Kind::kRelu) return at::relu(tensor);
  if (activation.kind == Activation::Kind::kNone) return tensor;
  return at::clamp(tensor, activation.low, activation.high);
}

WeightContent content_of_weights(const ConvolutionSpec& spec) {
  return content_of({static_cast<const std::byte*>(spec.weight.data_ptr()), spec.weight.nbytes()});
}

TEST(WinogradConvolution, IsLibTorchsWhateverItsShape) {
  std::mt19937_64 random(1);
  at::manual_seed(1);
  for (int i = 0; i < 100; ++i) {
    const ConvolutionSpec spec = random_winograd_spec(random);
    ASSERT_TRUE(WinogradConvolution::fits(spec));
    const auto side = [&](std::size_t dimension) {
      return std::max<std::int64_t>(1, 3 - 2 * spec.padding[dimension]) +
             static_cast<std::int64_t>(random() % 20);
    };
    const at::Tensor input = at::randn({1 + static_cast<std::int64_t>(random() % 3),
                                        spec.weight.size(1), side(0), side(1)})
                                 .contiguous(kInChannelsLast);
    const at::Tensor plain =
        at::conv2d(input, spec.weight, spec.bias, spec.stride, spec.padding, spec.dilation);
    const int threads = 1 + i % 3;
    ThreadPool pool(threads);
    const PoolScope scope(&pool);
    WinogradConvolution winograd(spec, content_of_weights(spec), input.sizes(), threads);
    for (const bool adds : {false, true}) {
      for (const bool activates : {false, true}) {
        const at::Tensor before = at::randn(plain.sizes()).contiguous(kInChannelsLast);
        at::Tensor result = before.clone(kInChannelsLast);
        winograd.run(input, result, adds, activates);
        at::Tensor expected = adds ? plain + before : plain;
        if (activates) expected = winograd_activated(expected, spec.activation);
        ASSERT_TRUE(at::allclose(result, expected, 1e-4, 1e-4))
            << i << ": " << input.sizes() << " by " << spec.weight.sizes() << " padding "
            << at::IntArrayRef(spec.padding) << ", off by "
            << (result - expected).abs().max().item<float>();
      }
    }
  }
}

TEST(WinogradConvolution, WhatItDoesNotFitIsSeen) {
  std::mt19937_64 random(2);
  const ConvolutionSpec good = random_winograd_spec(random);
  for (const auto& spoil : std::vector<std::function<void(ConvolutionSpec&)>>{
           [](ConvolutionSpec& spec) { spec.linear = true; },
           [](ConvolutionSpec& spec) { spec.groups = 2; },
           [](ConvolutionSpec& spec) {
             spec.stride = {1, 2};
           },
           [](ConvolutionSpec& spec) {
             spec.dilation = {1, 2};
           },
           [](ConvolutionSpec& spec) {
             spec.weight = at::zeros({16, 16, 3, 1});
           },
           [](ConvolutionSpec& spec) {
             spec.weight = at::zeros({16, 16, 5, 3});
           },
           [](ConvolutionSpec& spec) {
             spec.weight = at::zeros({16, 15, 3, 3});
           },
           [](ConvolutionSpec& spec) {
             spec.weight = at::zeros({17, 16, 3, 3});
           },
           [](ConvolutionSpec& spec) { spec.activation.kind = Activation::Kind::kHardswish; },
           [](ConvolutionSpec& spec) { spec.activation.kind = Activation::Kind::kSilu; }}) {
    ConvolutionSpec spec = good;
    spoil(spec);
    EXPECT_FALSE(WinogradConvolution::fits(spec));
  }
  EXPECT_TRUE(WinogradConvolution::fits(good));
}

}  // namespace
}  // namespace pareto::runtime::kernels
