// Blocks of mobile networks against LibTorch's operators one by one: strips of one row and of many,
// odd sizes, several samples, several threads.
#include "runtime/kernels/convolution_chain.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <random>
#include <sstream>
#include <utility>

#include "core/base/thread_pool.h"

namespace pareto::runtime::kernels {
namespace {

constexpr auto kBlockLayout = at::MemoryFormat::ChannelsLast;

at::Tensor activated_block(const at::Tensor& tensor, const Activation& activation) {
  at::Tensor result = tensor.clone();
  apply(activation, result);
  return result;
}

class BlockRandom {
 public:
  explicit BlockRandom(std::uint64_t seed) : random_(seed) { at::manual_seed(seed); }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  Activation activation() { return {static_cast<Activation::Kind>(between(0, 6)), -0.5F, 0.75F}; }

 private:
  std::mt19937_64 random_;
};

ConvolutionSpec block_layer(BlockRandom& random, std::int64_t out, std::int64_t in,
                            std::int64_t kernel, std::int64_t stride, std::int64_t groups) {
  ConvolutionSpec spec;
  spec.groups = groups;
  spec.stride = {stride, stride};
  spec.padding = {kernel / 2, kernel / 2};
  spec.dilation = {1, 1};
  spec.weight = at::randn({out, in / groups, kernel, kernel}) * 0.3;
  if (random.between(0, 2) > 0) spec.bias = at::randn({out});
  spec.activation = random.activation();
  spec.packed = std::make_shared<PackedWeights>();
  return spec;
}

struct Block {
  std::vector<ConvolutionSpec> layers;
  std::vector<ConvolutionSpec> gate;
  at::Tensor input;

  ConvolutionChain chain(std::optional<std::size_t> strip_bytes) const {
    ChainSpec spec;
    for (const auto& one : layers)
      spec.layers.push_back(c10::make_intrusive<PackedConvolution>(one));
    for (const auto& one : gate) spec.gate.push_back(c10::make_intrusive<PackedConvolution>(one));
    return ConvolutionChain(std::move(spec), strip_bytes);
  }

  /// Returns what LibTorch computes; `addend` may be undefined.
  at::Tensor expected(const at::Tensor& addend) const {
    at::Tensor picture = input;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const bool last = i + 1 == layers.size();
      if (last && !gate.empty()) {
        at::Tensor factors = at::mean(picture, {2, 3}, true);
        for (const auto& one : gate) factors = convolved(factors, one);
        picture = picture * factors;
      }
      picture = convolved(picture, layers[i], last ? addend : at::Tensor());
    }
    return picture;
  }

  std::string text() const {
    std::ostringstream text;
    text << input.sizes();
    for (const auto* list : {&layers, &gate}) {
      for (const auto& one : *list) {
        text << " by " << one.weight.sizes() << " stride " << one.stride[0];
      }
    }
    return text.str();
  }

 private:
  static at::Tensor convolved(const at::Tensor& input, const ConvolutionSpec& spec,
                              const at::Tensor& addend = {}) {
    at::Tensor result = at::conv2d(input, spec.weight, spec.bias, spec.stride, spec.padding,
                                   spec.dilation, spec.groups);
    if (addend.defined()) result = result + addend;
    return activated_block(result, spec.activation);
  }
};

/// `residual`: its result has the sizes of its input.
Block random_block(BlockRandom& random, std::int64_t batch, bool residual) {
  Block problem;
  const std::int64_t in = random.between(1, 40);
  const std::int64_t wide = random.between(2, 150);
  const bool expands = random.between(0, 3) > 0;
  const std::int64_t middle = expands ? wide : std::max<std::int64_t>(in, 2);
  const std::int64_t first = expands ? in : middle;
  const std::int64_t stride = residual ? 1 : random.between(1, 2);
  if (expands) {
    const bool stem = !residual && random.between(0, 3) == 0;
    problem.layers.push_back(block_layer(random, middle, first, stem ? 3 : 1, stem ? 2 : 1, 1));
  }
  problem.layers.push_back(
      block_layer(random, middle, middle, 1 + 2 * random.between(1, 2), stride, middle));
  problem.layers.push_back(
      block_layer(random, residual ? first : random.between(1, 40), middle, 1, 1, 1));
  if (random.between(0, 1) == 0) {
    const std::int64_t narrow = random.between(1, 30);
    problem.gate = {block_layer(random, narrow, middle, 1, 1, 1),
                    block_layer(random, middle, narrow, 1, 1, 1)};
  }
  problem.input = at::randn({batch, first, random.between(5, 33), random.between(5, 20)})
                      .contiguous(kBlockLayout);
  return problem;
}

double block_error(const at::Tensor& found, const at::Tensor& expected) {
  EXPECT_EQ(found.sizes(), expected.sizes());
  if (found.sizes() != expected.sizes()) return 1;
  const double largest = expected.abs().max().item<double>();
  return (found - expected).abs().max().item<double>() / std::max(largest, 1e-3);
}

constexpr double kBlockTolerance = 5e-5;
/// None; one by one; strips of one row; of some; of all.
constexpr std::array<std::optional<std::size_t>, 5> kWays{std::nullopt, 0, 1, 20'000, 100 << 20};

class ChainOnThreads : public testing::TestWithParam<int> {
 protected:
  ThreadPool pool_{GetParam()};
  const PoolScope scope_{&pool_};
};
INSTANTIATE_TEST_SUITE_P(ConvolutionChain, ChainOnThreads, testing::Values(1, 2, 3));

TEST_P(ChainOnThreads, AChainIsItsLayersOneByOne) {
  BlockRandom random(10 + GetParam());
  for (int i = 0; i < 10; ++i) {
    for (const std::int64_t batch : {1, 3, 8}) {
      const Block problem = random_block(random, batch, /*residual=*/false);
      const at::Tensor expected = problem.expected({});
      for (const auto& way : kWays) {
        ConvolutionChain chain = problem.chain(way);
        for (int turn = 0; turn < 2; ++turn) {
          EXPECT_LT(block_error(chain.run(problem.input, {}), expected), kBlockTolerance)
              << problem.text() << " in " << way.value_or(7) << " bytes, turn " << turn;
        }
      }
    }
  }
}

TEST_P(ChainOnThreads, AChainAddsItsInput) {
  BlockRandom random(20 + GetParam());
  for (int i = 0; i < 10; ++i) {
    for (const std::int64_t batch : {1, 3, 8}) {
      const Block problem = random_block(random, batch, /*residual=*/true);
      const at::Tensor expected = problem.expected(problem.input);
      for (const auto& way : kWays) {
        ConvolutionChain chain = problem.chain(way);
        const at::Tensor kept = problem.input.clone();
        EXPECT_LT(block_error(chain.run(problem.input, problem.input), expected), kBlockTolerance)
            << problem.text() << " in " << way.value_or(7) << " bytes, input held elsewhere";
        EXPECT_TRUE(at::equal(problem.input, kept)) << "who else holds the input needs it";
        // Nobody else does: the result may lie in its place.
        at::Tensor given = problem.input.clone();
        at::Tensor addend = given;
        EXPECT_LT(block_error(chain.run(std::move(given), std::move(addend)), expected),
                  kBlockTolerance)
            << problem.text() << " in " << way.value_or(7) << " bytes, input given away";
      }
    }
  }
}

TEST_P(ChainOnThreads, AChainAddsWhatMustBroadcast) {
  BlockRandom random(3);
  const Block problem = random_block(random, 2, /*residual=*/false);
  const at::Tensor sizes = problem.expected({});
  const at::Tensor addend = at::randn({1, sizes.size(1), 1, 1});
  ConvolutionChain chain = problem.chain(20'000);
  EXPECT_LT(block_error(chain.run(problem.input, addend), problem.expected(addend)),
            kBlockTolerance)
      << problem.text();
}

TEST(ConvolutionChain, RefusesWhatItsLayersRefuse) {
  BlockRandom random(4);
  const Block problem = random_block(random, 1, /*residual=*/true);
  ConvolutionChain chain = problem.chain(20'000);
  EXPECT_THROW(chain.run(at::randn({1, problem.input.size(1) + 1, 9, 9}), {}), c10::Error);
  EXPECT_THROW(chain.run(at::randn({9}), {}), c10::Error);
  EXPECT_EQ(chain.run(problem.input.narrow(0, 0, 0), {}).numel(), 0);
}

}  // namespace
}  // namespace pareto::runtime::kernels
