// The layers of the prepacked engine against LibTorch's own.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <thread>

#include "runtime/kernels/packed_convolution.h"
#include "runtime/kernels/packed_pooling.h"
#include "runtime/kernels/winograd_convolution.h"
#include "runtime/shard_runner.h"

namespace pareto::runtime {
namespace {

constexpr auto kLaidChannelsLast = at::MemoryFormat::ChannelsLast;

double relative_error(const at::Tensor& found, const at::Tensor& expected) {
  EXPECT_EQ(found.sizes(), expected.sizes());
  const at::Tensor difference = (found.to(at::kFloat) - expected).abs().max();
  return difference.item<double>() / expected.abs().max().item<double>();
}

double tolerance(at::ScalarType type) { return type == at::kFloat ? 1e-5 : 2e-2; }

at::Tensor picture(at::IntArrayRef sizes, at::ScalarType type) {
  return at::randn(sizes).to(type).contiguous(kLaidChannelsLast);
}

kernels::ConvolutionSpec spec_of(std::int64_t out, std::int64_t in, std::int64_t padding,
                                 at::ScalarType type) {
  kernels::ConvolutionSpec spec;
  spec.weight = at::randn({out, in, 3, 3}) / std::sqrt(9.0 * static_cast<double>(in));
  spec.bias = at::randn({out});
  spec.stride = spec.dilation = {1, 1};
  spec.padding = {padding, padding};
  spec.packed = std::make_shared<kernels::PackedWeights>();
  spec.compute = type;
  // What both sides compute with.
  spec.weight = spec.weight.to(type).to(at::kFloat);
  return spec;
}

kernels::WeightContent content_of_layer(const kernels::ConvolutionSpec& spec) {
  return runtime::kernels::content_of(
      {static_cast<const std::byte*>(spec.weight.data_ptr()), spec.weight.nbytes()});
}

kernels::WinogradConvolution winograd_of(const kernels::ConvolutionSpec& spec,
                                         at::IntArrayRef input_sizes) {
  return {spec, content_of_layer(spec), input_sizes};
}

at::Tensor reference(const at::Tensor& input, const kernels::ConvolutionSpec& spec) {
  return at::conv2d(input.to(at::kFloat), spec.weight, spec.bias, spec.stride, spec.padding,
                    spec.dilation, spec.groups);
}

class EveryType : public testing::TestWithParam<at::ScalarType> {
 protected:
  void SetUp() override {
    if (GetParam() == at::kFloat) return;
    try {
      winograd_of(spec_of(16, 16, 1, GetParam()), {1, 16, 4, 4});
    } catch (const dnnl::error& error) {
      if (error.status != dnnl_unimplemented) throw;
      GTEST_SKIP() << "oneDNN does not compute in " << GetParam() << " on this processor";
    }
  }
};

TEST(PackedConvolution, ComputesHoweverManySizesItIsGiven) {
  at::manual_seed(2);
  const kernels::ConvolutionSpec spec = spec_of(16, 16, 1, at::kFloat);
  kernels::PackedConvolution layer(spec);
  // More than are remembered, and the first ones once more.
  for (int turn = 0; turn < 2; ++turn) {
    for (std::int64_t size = 4; size < 30; ++size) {
      const at::Tensor input = picture({1, 16, size, 33 - size}, at::kFloat);
      EXPECT_LT(relative_error(layer.run(input, {}), reference(input, spec)), tolerance(at::kFloat))
          << input.sizes();
    }
  }
}

TEST(PackedConvolution, HoldsItsWeightsOnceAndPacksThemAnewFromThere) {
  at::manual_seed(3);
  kernels::ConvolutionSpec spec = spec_of(32, 16, 1, at::kFloat);
  spec.stride = {2, 2};  // nothing for Winograd
  const at::Tensor weight = spec.weight;
  const at::Tensor kept = weight.clone();
  kernels::PackedConvolution layer(spec);
  spec.weight = kept;
  EXPECT_GT(weight.use_count(), 1);
  for (const std::int64_t size : {8, 13, 224}) {
    const at::Tensor input = picture({1, 16, size, size}, at::kFloat);
    EXPECT_LT(relative_error(layer.run(input, {}), reference(input, spec)), tolerance(at::kFloat))
        << size;
    EXPECT_EQ(weight.use_count(), 1) << "only the packed ones are left";
  }
}

TEST(PackedConvolution, SharesItsWeightsWithOtherEngines) {
  at::manual_seed(4);
  const std::uint64_t before = kernels::packed_weight_bytes();
  kernels::ConvolutionSpec spec = spec_of(512, 512, 1, at::kFloat);
  const std::uint64_t weight_bytes = spec.weight.nbytes();
  spec.stride = {2, 2};  // nothing for Winograd
  const at::Tensor input = picture({1, 512, 8, 8}, at::kFloat);
  const at::Tensor expected = reference(input, spec);
  auto first = std::make_unique<kernels::PackedConvolution>(spec);
  EXPECT_LT(relative_error(first->run(input, {}), expected), 1e-5);
  const std::uint64_t of_one = kernels::packed_weight_bytes();
  EXPECT_GE(of_one - before, weight_bytes);

  kernels::ConvolutionSpec other = spec;
  other.weight = spec.weight.clone();
  other.packed = std::make_shared<kernels::PackedWeights>();
  auto second = std::make_unique<kernels::PackedConvolution>(other);
  EXPECT_LT(relative_error(second->run(input, {}), expected), 1e-5);
  EXPECT_EQ(kernels::packed_weight_bytes(), of_one);
  EXPECT_EQ(other.packed->bytes(), spec.packed->bytes());

  first.reset();
  spec.packed.reset();
  EXPECT_EQ(kernels::packed_weight_bytes(), of_one);
  EXPECT_LT(relative_error(second->run(input, {}), expected), 1e-5) << "which still holds them";
  second.reset();
  other.packed.reset();
  EXPECT_EQ(kernels::packed_weight_bytes(), before);
}

TEST_P(EveryType, WinogradComputesTheConvolution) {
  at::manual_seed(1);
  struct Case {
    std::int64_t batch, in, out, height, width, padding;
  };
  // Even and odd, one tile and many blocks of them, more than one picture, no padding and more than
  // the usual.
  for (const Case& c :
       {Case{1, 16, 16, 4, 4, 1}, Case{1, 32, 16, 7, 5, 1}, Case{3, 16, 48, 9, 8, 0},
        Case{2, 64, 64, 56, 55, 1}, Case{1, 128, 32, 3, 3, 2}}) {
    const kernels::ConvolutionSpec spec = spec_of(c.out, c.in, c.padding, GetParam());
    ASSERT_TRUE(kernels::WinogradConvolution::fits(spec));
    const at::Tensor input = picture({c.batch, c.in, c.height, c.width}, GetParam());
    const at::Tensor expected = reference(input, spec);
    kernels::WinogradConvolution winograd = winograd_of(spec, input.sizes());
    at::Tensor result = picture(expected.sizes(), GetParam());
    winograd.run(input, result, /*adds=*/false, /*activates=*/false);
    EXPECT_LT(relative_error(result, expected), tolerance(GetParam())) << input.sizes();
  }
}

TEST_P(EveryType, WinogradAddsAndActivates) {
  at::manual_seed(2);
  kernels::ConvolutionSpec spec = spec_of(32, 16, 1, GetParam());
  spec.activation = {kernels::Activation::Kind::kClamp, 0, 1.5F};
  const at::Tensor input = picture({1, 16, 11, 10}, GetParam());
  const at::Tensor addend = picture({1, 32, 11, 10}, GetParam());
  kernels::WinogradConvolution winograd = winograd_of(spec, input.sizes());
  winograd.keep_weights();
  EXPECT_EQ(spec.packed->bytes(), winograd.weight_bytes());
  at::Tensor result = addend.clone();
  winograd.run(input, result, /*adds=*/true, /*activates=*/true);
  const at::Tensor expected = (reference(input, spec) + addend.to(at::kFloat)).clamp(0, 1.5);
  EXPECT_LT(relative_error(result, expected), tolerance(GetParam()));
  // The same weights serve another size.
  const at::Tensor other = picture({2, 16, 5, 5}, GetParam());
  kernels::WinogradConvolution sibling = winograd_of(spec, other.sizes());
  at::Tensor smaller = at::empty({2, 32, 5, 5}, other.options(), kLaidChannelsLast);
  sibling.run(other, smaller, /*adds=*/false, /*activates=*/true);
  EXPECT_LT(relative_error(smaller, reference(other, spec).clamp(0, 1.5)), tolerance(GetParam()));
}

TEST_P(EveryType, AConvolutionIsRightByWhicheverMethodIsFaster) {
  at::manual_seed(3);
  for (const std::int64_t channels : {16, 64, 20}) {
    kernels::ConvolutionSpec spec = spec_of(channels, channels, 1, GetParam());
    spec.activation.kind = kernels::Activation::Kind::kRelu;
    const at::Tensor weights = spec.weight;
    const kernels::ConvolutionSpec same = spec;
    kernels::PackedConvolution convolution(std::move(spec));
    for (const std::int64_t size : {6, 28, 6}) {
      const at::Tensor input = picture({1, channels, size, size}, GetParam());
      at::Tensor addend = picture({1, channels, size, size}, GetParam());
      const at::Tensor expected = at::relu(reference(input, same) + addend.to(at::kFloat));
      EXPECT_LT(relative_error(convolution.run(input, std::move(addend)), expected),
                tolerance(GetParam()))
          << channels << " channels, " << size;
      EXPECT_LT(relative_error(convolution.run(input, {}), at::relu(reference(input, same))),
                tolerance(GetParam()));
    }
  }
}

/// Layers are used as shards are: loaded, and tried, in one thread that ends, and run in another.
/// Kernels that unfold their input have working memory.
TEST_P(EveryType, AConvolutionRunsInAnotherThreadThanItWasMadeIn) {
  at::manual_seed(5);
  for (const std::int64_t dilation : {1, 2}) {
    for (const std::int64_t channels : {3, 20, 64}) {
      kernels::ConvolutionSpec spec = spec_of(channels, channels, dilation, GetParam());
      spec.dilation = {dilation, dilation};
      const kernels::ConvolutionSpec same = spec;
      const at::Tensor input = picture({1, channels, 17, 15}, GetParam());
      std::optional<kernels::PackedConvolution> convolution;
      std::jthread([&] {
        convolution.emplace(std::move(spec));
        convolution->run(input, {});
      }).join();
      at::Tensor result;
      std::jthread([&] { result = convolution->run(input, {}); }).join();
      EXPECT_LT(relative_error(result, reference(input, same)), tolerance(GetParam()))
          << channels << " channels, dilation " << dilation;
    }
  }
}

TEST_P(EveryType, PoolingIsLibTorchs) {
  at::manual_seed(4);
  struct Case {
    std::int64_t kernel, stride, padding, height, width;
    bool ceil;
  };
  for (const Case& c :
       {Case{3, 2, 1, 112, 111, false}, Case{3, 2, 0, 14, 15, true}, Case{2, 2, 0, 7, 7, false},
        Case{2, 2, 0, 7, 7, true}, Case{3, 1, 1, 5, 6, true}, Case{2, 3, 1, 6, 8, true}}) {
    const at::Tensor input = picture({2, 24, c.height, c.width}, GetParam());
    kernels::PoolingSpec spec;
    spec.kernel = {c.kernel, c.kernel};
    spec.stride = {c.stride, c.stride};
    spec.padding = {c.padding, c.padding};
    spec.ceil = c.ceil;
    const at::Tensor expected = at::max_pool2d(input.to(at::kFloat), spec.kernel, spec.stride,
                                               spec.padding, {1, 1}, c.ceil);
    kernels::PackedPooling max(spec);
    EXPECT_EQ(relative_error(max.run(input), expected), 0) << input.sizes();
    if (c.ceil) continue;
    spec.kind = kernels::PoolingSpec::Kind::kAverage;
    const at::Tensor mean =
        at::avg_pool2d(input.to(at::kFloat), spec.kernel, spec.stride, spec.padding);
    kernels::PackedPooling average(spec);
    EXPECT_LT(relative_error(average.run(input), mean), tolerance(GetParam())) << input.sizes();
  }
}

INSTANTIATE_TEST_SUITE_P(Packed, EveryType, testing::Values(at::kFloat, at::kBFloat16),
                         [](const auto& type) { return c10::toString(type.param); });

TEST(PackedPooling, RefusesAWindowLargerThanItsInput) {
  kernels::PoolingSpec spec;
  spec.kernel = {5, 5};
  spec.stride = {1, 1};
  spec.padding = {0, 0};
  kernels::PackedPooling pooling(spec);
  EXPECT_THROW(pooling.run(at::zeros({1, 3, 4, 9})), c10::Error);
  EXPECT_THROW(pooling.run(at::zeros({3, 9})), c10::Error);
}

TEST(Winograd, IsOnlyForKernelsOfThreeByThreeAndStrideOne) {
  const kernels::ConvolutionSpec good = spec_of(16, 16, 1, at::kFloat);
  EXPECT_TRUE(kernels::WinogradConvolution::fits(good));
  kernels::ConvolutionSpec spec = good;
  spec.stride = {2, 1};
  EXPECT_FALSE(kernels::WinogradConvolution::fits(spec));
  spec = good;
  spec.dilation = {2, 2};
  EXPECT_FALSE(kernels::WinogradConvolution::fits(spec));
  spec = good;
  spec.activation.kind = kernels::Activation::Kind::kSilu;
  EXPECT_FALSE(kernels::WinogradConvolution::fits(spec));
  spec = good;
  spec.weight = at::zeros({24, 16, 3, 3});
  EXPECT_FALSE(kernels::WinogradConvolution::fits(spec));
  spec = good;
  spec.weight = at::zeros({16, 16, 1, 1});
  EXPECT_FALSE(kernels::WinogradConvolution::fits(spec));
}

}  // namespace
}  // namespace pareto::runtime
