// Tiles by Winograd's filtering against the definition of a convolution. No LibTorch.
#include "runtime/kernels/winograd_transform.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <type_traits>

namespace pareto::runtime::kernels::winograd {
namespace {

float to_float(float value) { return value; }
float to_float(BFloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}
template <typename T>
T from_float(float value) {
  if constexpr (std::is_same_v<T, float>) {
    return value;
  } else {
    return {static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16)};
  }
}

/// One tile: 4 x 4 pixels of `in` channels, kernels of `out` x `in`, and results 2 x 2 of `out`.
template <typename T>
struct Tile {
  std::size_t in;
  std::size_t out;
  std::vector<T> pixels;       ///< [16][in]
  std::vector<float> kernels;  ///< [out][in][3][3]
  std::vector<float> bias;     ///< [out]
  std::vector<T> before;       ///< [4][out], what lies there already

  Tile(std::size_t in_channels, std::size_t out_channels, std::mt19937_64& random)
      : in(in_channels), out(out_channels) {
    std::normal_distribution<float> normal(0, 1);
    for (std::size_t i = 0; i < kPoints * in; ++i) pixels.push_back(from_float<T>(normal(random)));
    for (std::size_t i = 0; i < out * in * 9; ++i) kernels.push_back(normal(random) / 8);
    for (std::size_t i = 0; i < out; ++i) bias.push_back(normal(random));
    for (std::size_t i = 0; i < 4 * out; ++i) before.push_back(from_float<T>(normal(random)));
  }

  float expected(std::size_t row, std::size_t column, std::size_t o, bool adds, float low,
                 float high) const {
    double sum = bias[o];
    for (std::size_t i = 0; i < in; ++i) {
      for (std::size_t y = 0; y < 3; ++y) {
        for (std::size_t x = 0; x < 3; ++x) {
          sum += static_cast<double>(to_float(pixels[((row + y) * 4 + column + x) * in + i])) *
                 static_cast<double>(kernels[((o * in + i) * 3 + y) * 3 + x]);
        }
      }
    }
    if (adds) sum += static_cast<double>(to_float(before[(row * 2 + column) * out + o]));
    return std::clamp(static_cast<float>(sum), low, high);
  }

  std::vector<T> computed(bool adds, float low, float high) const {
    const std::vector<float> weights = transform_weights(kernels.data(), out, in);
    std::vector<T> points(kPoints * in);
    std::array<const T*, kPoints> rows{};
    for (std::size_t i = 0; i < kPoints; ++i) rows[i] = pixels.data() + i * in;
    transform_input<T>(rows, points.data(), in, in);
    std::vector<float> products(kPoints * out, 0);
    for (std::size_t point = 0; point < kPoints; ++point) {
      for (std::size_t i = 0; i < in; ++i) {
        for (std::size_t o = 0; o < out; ++o) {
          products[point * out + o] +=
              to_float(points[point * in + i]) * weights[(point * in + i) * out + o];
        }
      }
    }
    std::vector<T> results = before;
    std::array<T*, 4> targets{};
    for (std::size_t i = 0; i < 4; ++i) targets[i] = results.data() + i * out;
    transform_output<T>(products.data(), out, {bias.data(), adds, low, high}, targets, out);
    return results;
  }
};

template <typename T>
class Winograd : public testing::Test {};
using Types = testing::Types<float, BFloat16>;
TYPED_TEST_SUITE(Winograd, Types);

TYPED_TEST(Winograd, ATileIsTheConvolutionOfItsPixels) {
  std::mt19937_64 random(1);
  const double tolerance = std::is_same_v<TypeParam, float> ? 1e-4 : 0.15;
  constexpr float kNoLimit = std::numeric_limits<float>::infinity();
  for (const auto& [in, out] :
       {std::pair<std::size_t, std::size_t>{16, 16}, {32, 16}, {16, 48}, {64, 32}}) {
    const Tile<TypeParam> tile(in, out, random);
    for (const bool adds : {false, true}) {
      for (const auto& [low, high] :
           {std::pair{-kNoLimit, kNoLimit}, {0.0F, kNoLimit}, {0.0F, 1.0F}, {-0.5F, 0.25F}}) {
        const auto results = tile.computed(adds, low, high);
        for (std::size_t pixel = 0; pixel < 4; ++pixel) {
          for (std::size_t o = 0; o < out; ++o) {
            ASSERT_NEAR(to_float(results[pixel * out + o]),
                        tile.expected(pixel / 2, pixel % 2, o, adds, low, high), tolerance)
                << in << " to " << out << " channels, pixel " << pixel << ", channel " << o;
          }
        }
      }
    }
  }
}

TYPED_TEST(Winograd, NothingIsWrittenBesideThePixels) {
  std::mt19937_64 random(2);
  Tile<TypeParam> tile(16, 16, random);
  const float guard = 123;
  std::vector<TypeParam> results(4 * 16 + 32, from_float<TypeParam>(guard));
  std::vector<float> products(kPoints * 16, 1);
  std::array<TypeParam*, 4> targets{};
  for (std::size_t i = 0; i < 4; ++i) targets[i] = results.data() + 16 + i * 16;
  transform_output<TypeParam>(products.data(), 16, {tile.bias.data(), false, -9, 9}, targets, 16);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(to_float(results[i]), guard);
    EXPECT_EQ(to_float(results[results.size() - 1 - i]), guard);
  }
}

TEST(WinogradWeights, OfAKernelThatOnlyCopiesAreThoseOfTheDefinition) {
  // The middle one of nine: G g G^T has the outer product of (0, 1/2, -1/2, 0) with itself.
  std::vector<float> kernel(16 * 16 * 9, 0);
  kernel[4] = 1;
  const std::vector<float> weights = transform_weights(kernel.data(), 16, 16);
  ASSERT_EQ(weights.size(), kPoints * 16U * 16U);
  const float column[4] = {0, 0.5F, -0.5F, 0};
  for (std::size_t point = 0; point < kPoints; ++point) {
    EXPECT_FLOAT_EQ(weights[point * 16 * 16], column[point / 4] * column[point % 4]) << point;
    EXPECT_EQ(weights[point * 16 * 16 + 1], 0) << "of another channel";
  }
}

}  // namespace
}  // namespace pareto::runtime::kernels::winograd
