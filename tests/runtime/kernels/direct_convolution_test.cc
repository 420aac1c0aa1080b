// Convolutions cut into pieces against LibTorch's plain operator, on shapes nobody chose.
#include "runtime/kernels/direct_convolution.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

namespace pareto::runtime::kernels {
namespace {

constexpr auto kDense = at::MemoryFormat::ChannelsLast;

/// A convolution whose pieces may be of one row, have padding larger than themselves, and channels
/// that fill no block.
struct CutProblem {
  ConvolutionSpec spec;
  at::Tensor weight;
  at::Tensor input;
  at::Tensor expected;
};

CutProblem random_cut_problem(std::mt19937_64& random) {
  const auto between = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  CutProblem problem;
  ConvolutionSpec& spec = problem.spec;
  const bool pointwise = between(0, 3) == 0;
  const bool depthwise = !pointwise && between(0, 3) == 0;
  spec.groups = depthwise ? between(1, 40) : (between(0, 4) == 0 ? 2 : 1);
  const std::int64_t in = depthwise ? spec.groups : spec.groups * between(1, 20);
  const std::int64_t out = depthwise ? in * between(1, 2) : spec.groups * between(1, 150);
  std::vector<std::int64_t> sizes{between(1, 4), in};
  std::vector<std::int64_t> kernel;
  for (int dimension = 0; dimension < 2; ++dimension) {
    kernel.push_back(pointwise ? 1 : between(1, 5));
    spec.stride.push_back(pointwise ? 1 : between(1, 3));
    spec.padding.push_back(pointwise ? 0 : between(0, 4));
    spec.dilation.push_back(pointwise ? 1 : between(1, 3));
    const std::int64_t reach = spec.dilation.back() * (kernel.back() - 1) + 1;
    sizes.push_back(std::max<std::int64_t>(1, reach - 2 * spec.padding.back()) + between(0, 12));
  }
  const double scale = 1 / std::sqrt(static_cast<double>(in / spec.groups * kernel[0] * kernel[1]));
  problem.weight = at::randn({out, in / spec.groups, kernel[0], kernel[1]}) * scale;
  if (between(0, 1) == 0) spec.bias = at::randn({out});
  spec.activation = {static_cast<Activation::Kind>(between(0, 4)), -0.5F, 0.75F};
  spec.packed = std::make_shared<PackedWeights>();
  problem.input = at::randn(sizes).contiguous(kDense);
  problem.expected = at::conv2d(problem.input, problem.weight, spec.bias, spec.stride, spec.padding,
                                spec.dilation, spec.groups);
  return problem;
}

void expect_close(const at::Tensor& found, const at::Tensor& expected, const std::string& what) {
  ASSERT_EQ(found.sizes(), expected.sizes()) << what;
  const double largest = std::max(1e-3, expected.abs().max().item<double>());
  EXPECT_LT((found - expected).abs().max().item<double>() / largest, 2e-5) << what;
}

TEST(DirectConvolution, IsLibTorchsHoweverItIsCut) {
  std::mt19937_64 random(1);
  at::manual_seed(1);
  std::set<Cut> seen;
  for (const int threads : {2, 3, 5}) {
    ThreadPool pool(threads);
    const PoolScope scope(&pool);
    for (int i = 0; i < 120; ++i) {
      const CutProblem given = random_cut_problem(random);
      LayerWeights weights(given.weight, given.spec.groups, given.spec.packed);
      const ConvolutionProblem problem{given.spec, given.weight.sizes().vec(),
                                       given.input.sizes().vec(), given.expected.sizes().vec()};
      for (const Cut cut : promising_cuts(problem, threads)) {
        seen.insert(cut);
        DirectConvolution layer(problem, cut, threads, weights);
        at::Tensor result = at::full_like(given.expected, 9).contiguous(kDense);
        layer.run(given.input, result);
        std::ostringstream what;
        what << "cut " << static_cast<int>(cut) << " for " << threads << ": " << given.input.sizes()
             << " by " << given.weight.sizes() << " stride " << at::IntArrayRef(given.spec.stride)
             << " padding " << at::IntArrayRef(given.spec.padding) << " dilation "
             << at::IntArrayRef(given.spec.dilation) << " groups " << given.spec.groups;
        expect_close(result, given.expected, what.str());
      }
    }
  }
  EXPECT_EQ(seen.size(), 5U) << "each way of cutting";
}

TEST(DirectConvolution, CutByChannelsGivesItsWeightsBack) {
  at::manual_seed(2);
  ConvolutionSpec spec;
  spec.stride = spec.dilation = {1, 1};
  spec.padding = {1, 1};
  spec.packed = std::make_shared<PackedWeights>();
  const at::Tensor weight = at::randn({150, 7, 3, 3}) / 8;
  LayerWeights weights(weight.clone(), 1, spec.packed);
  const ConvolutionProblem problem{spec, weight.sizes().vec(), {1, 7, 5, 5}, {1, 150, 5, 5}};
  DirectConvolution layer(problem, Cut::kChannels, 2, weights);
  layer.keep_weights();
  weights.drop_given(/*lossless=*/true);
  EXPECT_TRUE(weights.plain().equal(weight));
  // And they serve another cut.
  DirectConvolution rows(problem, Cut::kRows, 2, weights);
  const at::Tensor input = at::randn({1, 7, 5, 5}).contiguous(kDense);
  at::Tensor result = at::empty({1, 150, 5, 5}).contiguous(kDense);
  rows.run(input, result);
  expect_close(result, at::conv2d(input, weight, {}, 1, 1), "rows");
}

}  // namespace
}  // namespace pareto::runtime::kernels
