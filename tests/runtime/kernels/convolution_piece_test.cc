// Parts of convolutions by oneDNN, against the same rows of LibTorch's whole.
#include "runtime/kernels/convolution_piece.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>

namespace pareto::runtime::kernels {
namespace {

/// A layer of any shape, its input and its whole result, channels innermost.
struct PieceProblem {
  ConvolutionSpec spec;
  at::Tensor input;
  at::Tensor expected;

  ConvolutionProblem problem() const {
    return {spec,           spec.weight.sizes().vec(), input.sizes().vec(), expected.sizes().vec(),
            /*adds=*/false, /*activates=*/true};
  }
  std::string text() const {
    std::ostringstream text;
    text << input.sizes() << " by " << spec.weight.sizes() << " stride "
         << at::IntArrayRef(spec.stride) << " padding " << at::IntArrayRef(spec.padding)
         << " dilation " << at::IntArrayRef(spec.dilation) << " groups " << spec.groups;
    return text.str();
  }
};

PieceProblem random_piece(std::mt19937& random) {
  const auto between = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random() % static_cast<unsigned>(most - least + 1));
  };
  PieceProblem made;
  ConvolutionSpec& spec = made.spec;
  spec.groups = between(0, 2) == 0 ? between(2, 4) : 1;
  const std::int64_t in = spec.groups * between(1, 6);
  const std::int64_t out = spec.groups * between(1, 5);
  std::vector<std::int64_t> sizes{1, in};
  std::vector<std::int64_t> kernel;
  for (int dimension = 0; dimension < 2; ++dimension) {
    kernel.push_back(between(1, 4));
    spec.stride.push_back(between(1, 3));
    spec.dilation.push_back(between(1, 2));
    const std::int64_t reach = spec.dilation.back() * (kernel.back() - 1) + 1;
    // LibTorch's own oneDNN 3.7 ends the process on some windows that lie in the padding alone.
    spec.padding.push_back(between(0, std::min<std::int64_t>(2, reach - 1)));
    sizes.push_back(std::max<std::int64_t>(1, reach - 2 * spec.padding.back()) + between(0, 9));
  }
  spec.weight = at::randn({out, in / spec.groups, kernel[0], kernel[1]}) * 0.3;
  if (between(0, 1) == 0) spec.bias = at::randn({out});
  spec.activation = {static_cast<Activation::Kind>(between(0, 6)), -0.5F, 0.75F};
  made.input = at::randn(sizes).contiguous(at::MemoryFormat::ChannelsLast);
  at::Tensor whole = at::conv2d(made.input, spec.weight, spec.bias, spec.stride, spec.padding,
                                spec.dilation, spec.groups);
  apply(spec.activation, whole);
  made.expected = whole.contiguous(at::MemoryFormat::ChannelsLast);
  return made;
}

TEST(RowsFor, AreThoseThatAPointOfTheKernelReads) {
  std::mt19937 random(21);
  at::manual_seed(21);
  for (int round = 0; round < 300; ++round) {
    const PieceProblem made = random_piece(random);
    const std::int64_t height = made.expected.size(2);
    const auto begin = static_cast<std::int64_t>(random() % static_cast<unsigned>(height));
    const std::int64_t end =
        begin + 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(height - begin));
    std::int64_t least = INT64_MAX;
    std::int64_t most = INT64_MIN;
    for (std::int64_t row = begin; row < end; ++row) {
      for (std::int64_t k = 0; k < made.spec.weight.size(2); ++k) {
        const std::int64_t place =
            row * made.spec.stride[0] - made.spec.padding[0] + k * made.spec.dilation[0];
        least = std::min(least, place);
        most = std::max(most, place);
      }
    }
    const std::int64_t rows = made.input.size(2);
    const Rows found = rows_for(made.problem(), {begin, end});
    EXPECT_EQ(found.above, std::max<std::int64_t>(0, -least)) << made.text();
    EXPECT_EQ(found.below, std::max<std::int64_t>(0, most + 1 - rows)) << made.text();
    EXPECT_EQ(found.input, (Share{std::clamp<std::int64_t>(least, 0, rows),
                                  std::clamp<std::int64_t>(most + 1, 0, rows)}))
        << made.text();
  }
}

TEST(ConvolutionPiece, SomeRowsAreThoseOfTheWhole) {
  std::mt19937 random(22);
  at::manual_seed(22);
  int computed = 0;
  for (int round = 0; round < 120; ++round) {
    const PieceProblem made = random_piece(random);
    const ConvolutionProblem problem = made.problem();
    LayerWeights weights(made.spec.weight, made.spec.groups, std::make_shared<PackedWeights>());
    const std::int64_t height = made.expected.size(2);
    const auto begin = static_cast<std::int64_t>(random() % static_cast<unsigned>(height));
    const std::int64_t end =
        begin + 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(height - begin));
    const Rows rows = rows_for(problem, {begin, end});
    if (!is_computable(problem, rows)) continue;
    ++computed;
    const std::int64_t padding = made.spec.padding[1];
    ConvolutionPiece piece(problem,
                           {{1, problem.input[1], rows.input.size(), problem.input[3]},
                            {1, problem.output[1], end - begin, problem.output[3]},
                            {rows.above, padding},
                            {rows.below, padding},
                            weights.all()},
                           weights);
    const std::int64_t in_row = problem.input[1] * problem.input[3];
    at::Tensor result = at::full({1, problem.output[1], end - begin, problem.output[3]}, -99.0)
                            .contiguous(at::MemoryFormat::ChannelsLast);
    for (int turn = 0; turn < 2; ++turn) {
      piece.run(made.input.data_ptr<float>() + rows.input.begin * in_row, result.data_ptr<float>());
      EXPECT_TRUE(result.allclose(made.expected.narrow(2, begin, end - begin), 1e-4, 1e-4))
          << made.text() << ", rows " << begin << " to " << end;
      piece.keep_weights(weights);
    }
    EXPECT_GT(piece.weight_bytes(), 0U);
  }
  EXPECT_GT(computed, 80);
}

TEST(ConvolutionPiece, SomeChannelsAreThoseOfTheWhole) {
  std::mt19937 random(23);
  at::manual_seed(23);
  int computed = 0;
  for (int round = 0; round < 120; ++round) {
    const PieceProblem made = random_piece(random);
    if (made.spec.groups > 1 || made.expected.size(1) < 2) continue;
    const ConvolutionProblem problem = made.problem();
    LayerWeights weights(made.spec.weight, 1, std::make_shared<PackedWeights>());
    const Rows rows = rows_for(problem, {0, made.expected.size(2)});
    if (!is_computable(problem, rows)) continue;
    ++computed;
    const Share channels{1, made.expected.size(1)};
    const std::int64_t reach = made.spec.dilation[1] * (made.spec.weight.size(3) - 1) + 1;
    const std::int64_t right =
        std::max<std::int64_t>(0, (problem.output[3] - 1) * made.spec.stride[1] + reach -
                                      made.spec.padding[1] - problem.input[3]);
    ConvolutionPiece piece(problem,
                           {problem.input,
                            {1, channels.size(), problem.output[2], problem.output[3]},
                            {made.spec.padding[0], made.spec.padding[1]},
                            {rows.below, right},
                            channels},
                           weights);
    EXPECT_EQ(piece.channels(), channels);
    at::Tensor result = at::empty({1, channels.size(), problem.output[2], problem.output[3]})
                            .contiguous(at::MemoryFormat::ChannelsLast);
    piece.run(made.input.data_ptr<float>(), result.data_ptr<float>());
    EXPECT_TRUE(result.allclose(made.expected.narrow(1, 1, channels.size()), 1e-4, 1e-4))
        << made.text();
  }
  EXPECT_GT(computed, 40);
}

TEST(ConvolutionPiece, AddsToWhatLiesInTheResult) {
  std::mt19937 random(24);
  at::manual_seed(24);
  for (int round = 0; round < 30; ++round) {
    PieceProblem made = random_piece(random);
    made.spec.activation = {};
    ConvolutionProblem problem = made.problem();
    problem.adds = true;
    const Rows rows = rows_for(problem, {0, problem.output[2]});
    if (!is_computable(problem, rows) || rows.input.size() != problem.input[2]) continue;
    LayerWeights weights(made.spec.weight, made.spec.groups, std::make_shared<PackedWeights>());
    ConvolutionPiece piece(
        problem,
        {problem.input, problem.output, made.spec.padding, made.spec.padding, weights.all()},
        weights);
    const at::Tensor whole =
        at::conv2d(made.input, made.spec.weight, made.spec.bias, made.spec.stride,
                   made.spec.padding, made.spec.dilation, made.spec.groups);
    const at::Tensor addend = at::randn(problem.output).contiguous(at::MemoryFormat::ChannelsLast);
    const at::Tensor result = addend.clone();
    piece.run(made.input.data_ptr<float>(), result.data_ptr<float>());
    EXPECT_TRUE(result.allclose(whole + addend, 1e-4, 1e-4)) << made.text();
  }
}

TEST(IsComputable, NeedsInputAndAWindowWithinIt) {
  const at::Tensor weight = at::ones({1, 1, 3, 3});
  ConvolutionSpec spec;
  spec.weight = weight;
  spec.stride = spec.dilation = {1, 1};
  spec.padding = {1, 1};
  const ConvolutionProblem problem{spec, {1, 1, 3, 3}, {1, 1, 5, 5}, {1, 1, 5, 5}};
  EXPECT_TRUE(is_computable(problem, {{0, 5}, 0, 0}));
  EXPECT_TRUE(is_computable(problem, {{0, 1}, 1, 1}));
  EXPECT_FALSE(is_computable(problem, {{3, 3}, 0, 0})) << "no rows";
  EXPECT_FALSE(is_computable(problem, {{5, 5}, 0, 3}));
  spec.padding = {3, 1};
  EXPECT_FALSE(is_computable(problem, {{0, 5}, 3, 0})) << "a window lies above";
  EXPECT_TRUE(is_computable(problem, {{0, 5}, 0, 0}));
  spec.padding = {2, 1};
  spec.dilation = {2, 1};
  EXPECT_FALSE(is_computable(problem, {{0, 1}, 2, 2})) << "points step over the only row";
}

}  // namespace
}  // namespace pareto::runtime::kernels
