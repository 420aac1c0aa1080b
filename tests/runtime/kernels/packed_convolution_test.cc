// Packed convolutions and linear layers against LibTorch's plain operators, on shapes nobody chose.
#include "runtime/kernels/packed_convolution.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <random>

#include "core/base/thread_pool.h"

namespace pareto::runtime::kernels {
namespace {

constexpr auto kChannelsLast = at::MemoryFormat::ChannelsLast;

double relative_error(const at::Tensor& found, const at::Tensor& expected) {
  EXPECT_EQ(found.sizes(), expected.sizes());
  if (found.sizes() != expected.sizes()) return 1;
  const double largest = expected.abs().max().item<double>();
  return (found - expected).abs().max().item<double>() / std::max(largest, 1e-3);
}

at::Tensor activated(const at::Tensor& tensor, const Activation& activation) {
  switch (activation.kind) {
    case Activation::Kind::kNone:
      return tensor;
    case Activation::Kind::kRelu:
      return at::relu(tensor);
    case Activation::Kind::kClamp:
      return at::clamp(tensor, activation.low, activation.high);
    case Activation::Kind::kHardswish:
      return at::hardswish(tensor);
    case Activation::Kind::kSilu:
      return at::silu(tensor);
    case Activation::Kind::kSigmoid:
      return at::sigmoid(tensor);
    case Activation::Kind::kHardsigmoid:
      return at::hardsigmoid(tensor);
  }
  return tensor;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : random_(seed) { at::manual_seed(seed); }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  Activation activation() { return {static_cast<Activation::Kind>(between(0, 6)), -0.5F, 0.75F}; }
  std::mt19937_64& engine() { return random_; }

 private:
  std::mt19937_64 random_;
};

struct Problem {
  ConvolutionSpec spec;
  at::Tensor input;
  at::Tensor expected;
};

/// A convolution with any kernel, stride, padding, dilation and number of groups that fit its
/// input.
Problem random_convolution(Random& random) {
  ConvolutionSpec spec;
  spec.groups = random.between(0, 2) == 0 ? random.between(2, 4) : 1;
  const std::int64_t in = spec.groups * random.between(1, 9);
  // Every fourth has as many groups as channels, as in a MobileNet.
  if (random.between(0, 3) == 0) spec.groups = in;
  const std::int64_t out = spec.groups * random.between(1, 5);
  std::vector<std::int64_t> sizes{random.between(1, 3), in};
  std::vector<std::int64_t> kernel;
  for (int dimension = 0; dimension < 2; ++dimension) {
    kernel.push_back(random.between(1, 5));
    spec.stride.push_back(random.between(1, 3));
    spec.padding.push_back(random.between(0, 3));
    spec.dilation.push_back(random.between(1, 3));
    const std::int64_t reach = spec.dilation.back() * (kernel.back() - 1) + 1;
    sizes.push_back(std::max<std::int64_t>(1, reach - 2 * spec.padding.back()) +
                    random.between(0, 12));
  }
  spec.weight = at::randn({out, in / spec.groups, kernel[0], kernel[1]}) * 0.3;
  if (random.between(0, 1) == 0) spec.bias = at::randn({out});
  spec.activation = random.activation();
  spec.packed = std::make_shared<PackedWeights>();
  const at::Tensor input = at::randn(sizes).contiguous(kChannelsLast);
  const at::Tensor expected = at::conv2d(input, spec.weight, spec.bias, spec.stride, spec.padding,
                                         spec.dilation, spec.groups);
  return {spec, input, expected};
}

std::string text(const Problem& problem) {
  std::ostringstream text;
  text << problem.input.sizes() << " by " << problem.spec.weight.sizes() << " stride "
       << at::IntArrayRef(problem.spec.stride) << " padding "
       << at::IntArrayRef(problem.spec.padding) << " dilation "
       << at::IntArrayRef(problem.spec.dilation) << " groups " << problem.spec.groups;
  return text.str();
}

TEST(PackedConvolution, IsLibTorchsWhateverItsShape) {
  Random random(1);
  for (int i = 0; i < 150; ++i) {
    const Problem problem = random_convolution(random);
    PackedConvolution layer(problem.spec);
    EXPECT_LT(relative_error(layer.run(problem.input, {}),
                             activated(problem.expected, problem.spec.activation)),
              2e-5)
        << i << ": " << text(problem);
  }
}

TEST(PackedConvolution, IsLibTorchsOnThreadsOfAPool) {
  for (const int threads : {2, 3}) {
    ThreadPool pool(threads);
    const PoolScope scope(&pool);
    Random random(7);
    for (int i = 0; i < 80; ++i) {
      const Problem problem = random_convolution(random);
      PackedConvolution layer(problem.spec);
      const at::Tensor expected = activated(problem.expected, problem.spec.activation);
      EXPECT_LT(relative_error(layer.run(problem.input, {}), expected), 2e-5)
          << i << " on " << threads << ": " << text(problem);
      const at::Tensor addend = at::randn(problem.expected.sizes()).contiguous(kChannelsLast);
      EXPECT_LT(relative_error(layer.run(problem.input, addend),
                               activated(problem.expected + addend, problem.spec.activation)),
                2e-5)
          << i << " on " << threads << ", sum: " << text(problem);
      const PoolScope none(nullptr);
      EXPECT_LT(relative_error(layer.run(problem.input, {}), expected), 2e-5)
          << i << " then alone: " << text(problem);
    }
  }
}

TEST(PackedConvolution, AddsBeforeItActivates) {
  Random random(2);
  for (int i = 0; i < 100; ++i) {
    const Problem problem = random_convolution(random);
    PackedConvolution layer(problem.spec);
    const at::Tensor addend = at::randn(problem.expected.sizes()).contiguous(kChannelsLast);
    const at::Tensor kept = addend.clone();
    const at::Tensor result = layer.run(problem.input, addend);
    EXPECT_LT(relative_error(result, activated(problem.expected + kept, problem.spec.activation)),
              2e-5)
        << i << ": " << text(problem);
    // We still hold it: it may not have been written to.
    EXPECT_TRUE(addend.equal(kept)) << i;
  }
}

TEST(PackedConvolution, TakesInputsThatLieInAnyOrder) {
  Random random(3);
  for (int i = 0; i < 60; ++i) {
    const Problem problem = random_convolution(random);
    PackedConvolution layer(problem.spec);
    const at::Tensor expected = activated(problem.expected, problem.spec.activation);
    const at::Tensor row_major = problem.input.contiguous();
    // Every other row of a larger picture, and one that is turned on its side.
    const at::Tensor gaps =
        at::stack({problem.input, at::zeros_like(problem.input)}, 3).select(3, 0);
    const at::Tensor turned = row_major.transpose(2, 3).contiguous().transpose(2, 3);
    for (const at::Tensor& input : {row_major, gaps, turned}) {
      ASSERT_TRUE(input.equal(problem.input));
      EXPECT_LT(relative_error(layer.run(input, {}), expected), 2e-5)
          << i << ": " << text(problem) << " strides " << input.strides();
    }
  }
}

TEST(PackedConvolution, ALinearLayerTakesAnyNumberOfDimensions) {
  Random random(4);
  for (int i = 0; i < 80; ++i) {
    const std::int64_t in = random.between(1, 40);
    const std::int64_t out = random.between(1, 40);
    ConvolutionSpec spec;
    spec.linear = true;
    const at::Tensor weight = at::randn({out, in}) * 0.3;
    spec.weight = weight.view({out, in, 1, 1});
    if (random.between(0, 1) == 0) spec.bias = at::randn({out});
    spec.stride = spec.dilation = {1, 1};
    spec.padding = {0, 0};
    spec.activation = random.activation();
    spec.packed = std::make_shared<PackedWeights>();
    const Activation activation = spec.activation;
    const at::Tensor bias = spec.bias;
    PackedConvolution layer(std::move(spec));
    // One layer, inputs of different ranks one after the other.
    for (const std::int64_t rank : {2, 3, 2, 4}) {
      std::vector<std::int64_t> sizes;
      for (std::int64_t d = 1; d < rank; ++d) sizes.push_back(random.between(1, 5));
      sizes.push_back(in);
      const at::Tensor input = at::randn(sizes);
      const at::Tensor expected = at::linear(input, weight, bias);
      EXPECT_LT(relative_error(layer.run(input, {}), activated(expected, activation)), 2e-5)
          << input.sizes() << " to " << out;
      const at::Tensor addend = at::randn(expected.sizes());
      EXPECT_LT(relative_error(layer.run(input, addend), activated(expected + addend, activation)),
                2e-5)
          << input.sizes();
    }
  }
}

TEST(PackedConvolution, ALinearLayerIsLibTorchsOnThreadsOfAPool) {
  Random random(8);
  ThreadPool pool(2);
  const PoolScope scope(&pool);
  for (const std::int64_t rows : {1, 2, 3, 8, 70}) {
    for (const std::int64_t out : {1, 33, 64, 200}) {
      const std::int64_t in = random.between(1, 300);
      ConvolutionSpec spec;
      spec.linear = true;
      const at::Tensor weight = at::randn({out, in}) / std::sqrt(static_cast<double>(in));
      spec.weight = weight.view({out, in, 1, 1});
      spec.bias = at::randn({out});
      spec.stride = spec.dilation = {1, 1};
      spec.padding = {0, 0};
      spec.packed = std::make_shared<PackedWeights>();
      const at::Tensor bias = spec.bias;
      PackedConvolution layer(std::move(spec));
      const at::Tensor input = at::randn({rows, in});
      const at::Tensor expected = at::linear(input, weight, bias);
      EXPECT_LT(relative_error(layer.run(input, {}), expected), 2e-5) << rows << " to " << out;
      const at::Tensor addend = at::randn({rows, out});
      EXPECT_LT(relative_error(layer.run(input, addend), expected + addend), 2e-5)
          << rows << " to " << out << ", sum";
    }
  }
}

TEST(PackedConvolution, ABatchOfNoneIsNone) {
  Random random(5);
  const Problem problem = random_convolution(random);
  PackedConvolution layer(problem.spec);
  std::vector<std::int64_t> sizes = problem.input.sizes().vec();
  sizes[0] = 0;
  try {
    const at::Tensor result = layer.run(at::empty(sizes), {});
    EXPECT_EQ(result.size(0), 0);
  } catch (const std::exception&) {
    // Refused as well: plain LibTorch takes none either for some shapes.
  }
  // And the layer goes on.
  EXPECT_LT(relative_error(layer.run(problem.input, {}),
                           activated(problem.expected, problem.spec.activation)),
            2e-5);
}

TEST(PackedConvolution, AnInputOfOtherChannelsIsRefused) {
  Random random(6);
  const Problem problem = random_convolution(random);
  PackedConvolution layer(problem.spec);
  std::vector<std::int64_t> sizes = problem.input.sizes().vec();
  sizes[1] += 1;
  EXPECT_ANY_THROW(layer.run(at::randn(sizes), {}));
  EXPECT_ANY_THROW(layer.run(at::randn({3, 4}), {}));
}

}  // namespace
}  // namespace pareto::runtime::kernels
