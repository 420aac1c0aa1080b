// Pooling against LibTorch's plain operators, on windows nobody chose.
#include "runtime/kernels/packed_pooling.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <random>

#include "core/base/thread_pool.h"
#include "runtime/kernels/packed_convolution.h"

namespace pareto::runtime::kernels {
namespace {

PoolingSpec random_spec(std::mt19937_64& random) {
  PoolingSpec spec;
  for (int dimension = 0; dimension < 2; ++dimension) {
    spec.kernel.push_back(1 + static_cast<std::int64_t>(random() % 4));
    spec.stride.push_back(1 + static_cast<std::int64_t>(random() % 4));
    // LibTorch takes at most half a window.
    spec.padding.push_back(static_cast<std::int64_t>(
        random() % static_cast<std::uint64_t>(spec.kernel.back() / 2 + 1)));
  }
  return spec;
}

at::Tensor random_picture(const PoolingSpec& spec, std::mt19937_64& random) {
  std::vector<std::int64_t> sizes{1 + static_cast<std::int64_t>(random() % 3),
                                  1 + static_cast<std::int64_t>(random() % 20)};
  for (std::size_t dimension = 0; dimension < 2; ++dimension) {
    sizes.push_back(
        std::max<std::int64_t>(1, spec.kernel[dimension] - 2 * spec.padding[dimension]) +
        static_cast<std::int64_t>(random() % 15));
  }
  return at::randn(sizes).contiguous(at::MemoryFormat::ChannelsLast);
}

TEST(PackedPooling, TheMaximumIsLibTorchs) {
  std::mt19937_64 random(1);
  at::manual_seed(1);
  for (int i = 0; i < 300; ++i) {
    PoolingSpec spec = random_spec(random);
    spec.ceil = random() % 2 == 0;
    const at::Tensor input = random_picture(spec, random);
    const at::Tensor expected =
        at::max_pool2d(input, spec.kernel, spec.stride, spec.padding, {1, 1}, spec.ceil);
    PackedPooling pooling(spec);
    ASSERT_TRUE(pooling.run(input).equal(expected))
        << i << ": " << input.sizes() << " kernel " << at::IntArrayRef(spec.kernel) << " stride "
        << at::IntArrayRef(spec.stride) << " padding " << at::IntArrayRef(spec.padding);
  }
}

TEST(PackedPooling, TheAverageIsLibTorchs) {
  std::mt19937_64 random(2);
  at::manual_seed(2);
  for (int i = 0; i < 300; ++i) {
    PoolingSpec spec = random_spec(random);
    spec.kind = PoolingSpec::Kind::kAverage;
    const at::Tensor input = random_picture(spec, random);
    const at::Tensor expected = at::avg_pool2d(input, spec.kernel, spec.stride, spec.padding);
    PackedPooling pooling(spec);
    const at::Tensor result = pooling.run(input);
    ASSERT_EQ(result.sizes(), expected.sizes()) << i;
    ASSERT_TRUE(at::allclose(result, expected, 1e-5, 1e-6)) << i << ": " << input.sizes();
  }
}

TEST(PackedPooling, IsLibTorchsOnThreadsOfAPool) {
  std::mt19937_64 random(5);
  at::manual_seed(5);
  ThreadPool pool(3);
  const PoolScope scope(&pool);
  for (int i = 0; i < 80; ++i) {
    PoolingSpec spec = random_spec(random);
    // So much that it is cut, into pieces of one row too.
    const std::int64_t height = spec.kernel[0] + static_cast<std::int64_t>(random() % 9);
    const at::Tensor input =
        at::randn({2, 400, height, 40}).contiguous(at::MemoryFormat::ChannelsLast);
    const at::Tensor average = at::avg_pool2d(input, spec.kernel, spec.stride, spec.padding);
    spec.ceil = random() % 2 == 0;
    const at::Tensor most =
        at::max_pool2d(input, spec.kernel, spec.stride, spec.padding, {1, 1}, spec.ceil);
    EXPECT_TRUE(PackedPooling(spec).run(input).equal(most)) << i << ": " << input.sizes();
    spec.kind = PoolingSpec::Kind::kAverage;
    spec.ceil = false;
    EXPECT_TRUE(at::allclose(PackedPooling(spec).run(input), average, 1e-5, 1e-6))
        << i << ": " << input.sizes();
  }
}

TEST(PackedPooling, OneServesManySizes) {
  std::mt19937_64 random(3);
  at::manual_seed(3);
  PoolingSpec spec;
  spec.kernel = {3, 2};
  spec.stride = {2, 1};
  spec.padding = {1, 0};
  PackedPooling pooling(spec);
  // More sizes than are remembered, and both types in turns.
  for (int i = 0; i < 60; ++i) {
    at::Tensor input = random_picture(spec, random);
    if (i % 2 == 1 && has_bfloat16_convolutions()) input = input.to(at::kBFloat16);
    const at::Tensor expected =
        at::max_pool2d(input.to(at::kFloat), spec.kernel, spec.stride, spec.padding);
    ASSERT_TRUE(pooling.run(input).to(at::kFloat).equal(expected)) << i << ": " << input.sizes();
  }
}

TEST(PackedPooling, TheLeastNumberThereIsMayBeTheMaximum) {
  PoolingSpec spec;
  spec.kernel = spec.stride = {2, 2};
  spec.padding = {1, 1};
  const at::Tensor input = at::full({1, 3, 4, 4}, -std::numeric_limits<float>::infinity())
                               .contiguous(at::MemoryFormat::ChannelsLast);
  PackedPooling pooling(spec);
  const at::Tensor result = pooling.run(input);
  // Padding is below all numbers. (oneDNN writes the lowest finite one where nothing is above it.)
  EXPECT_LT(result.max().item<float>(), -1e38F);
}

}  // namespace
}  // namespace pareto::runtime::kernels
