// Arithmetic on pixels against the plainest loops.
#include "runtime/kernels/picture_arithmetic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace pareto::runtime::kernels {
namespace {

using Numbers = std::vector<float>;

// Whole vectors, several of them, halves, and single numbers at the end.
constexpr std::size_t kNumberCounts[] = {1, 3, 8, 15, 16, 24, 40, 64, 72, 131};

Numbers random_numbers(std::size_t count) {
  static std::mt19937 random(7);
  std::normal_distribution<float> normal;
  Numbers numbers(count);
  for (float& one : numbers) one = normal(random);
  return numbers;
}

TEST(PictureArithmetic, SiluAndSigmoidAreThoseOfTheLibrary) {
  for (const std::size_t count : kNumberCounts) {
    Numbers numbers = random_numbers(count);
    for (std::size_t i = 0; i < count; ++i) numbers[i] *= static_cast<float>(1 + i % 30);
    Numbers silus = numbers;
    Numbers sigmoids = numbers;
    silu(silus.data(), count);
    sigmoid(sigmoids.data(), count);
    for (std::size_t i = 0; i < count; ++i) {
      const double x = numbers[i];
      const double expected = 1 / (1 + std::exp(-x));
      const double tolerance = 4e-7 * (1 + std::abs(x)) * expected;
      EXPECT_NEAR(sigmoids[i], expected, tolerance + 1e-37) << x;
      EXPECT_NEAR(silus[i], x * expected, std::abs(x) * tolerance + 1e-35) << x;
    }
  }
}

TEST(PictureArithmetic, SiluOfExtremesIsWhatItTendsTo) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Numbers numbers{0.F, -0.F, 1e4F, -1e4F, 1e-30F, kInfinity, kNone};
  silu(numbers.data(), numbers.size());
  EXPECT_EQ(numbers[0], 0);
  EXPECT_EQ(numbers[1], 0);
  EXPECT_EQ(numbers[2], 1e4F);
  EXPECT_NEAR(numbers[3], 0, 1e-30);
  EXPECT_FLOAT_EQ(numbers[4], 5e-31F);
  EXPECT_EQ(numbers[5], kInfinity);
  EXPECT_TRUE(std::isnan(numbers[6]));
}

TEST(PictureArithmetic, AddsPixelsToWhatIsThere) {
  for (const std::size_t channels : kNumberCounts) {
    const std::size_t pixels = 1 + channels % 7;
    const Numbers picture = random_numbers(pixels * channels);
    Numbers sums(channels, 2);
    add_pixels(picture.data(), pixels, channels, sums.data());
    for (std::size_t c = 0; c < channels; ++c) {
      float expected = 2;
      for (std::size_t p = 0; p < pixels; ++p) expected += picture[p * channels + c];
      EXPECT_NEAR(sums[c], expected, 1e-5) << channels << " channels";
    }
  }
}

TEST(PictureArithmetic, ScalesEachChannelAlsoInPlace) {
  for (const std::size_t channels : kNumberCounts) {
    const std::size_t pixels = 1 + channels % 5;
    Numbers picture = random_numbers(pixels * channels);
    const Numbers factors = random_numbers(channels);
    Numbers result(picture.size());
    scale_pixels(picture.data(), pixels, channels, factors.data(), result.data());
    for (std::size_t i = 0; i < picture.size(); ++i) {
      EXPECT_EQ(result[i], picture[i] * factors[i % channels]);
    }
    scale_pixels(picture.data(), pixels, channels, factors.data(), picture.data());
    EXPECT_EQ(picture, result);
  }
}

TEST(PictureArithmetic, AddsProductsOfSomeOutputs) {
  for (const std::size_t outputs : kNumberCounts) {
    const std::size_t inputs = 1 + outputs % 11;
    const std::size_t stride = outputs + 5;
    const Numbers numbers = random_numbers(inputs);
    const Numbers weights = random_numbers(inputs * stride);
    Numbers results(outputs, -1);
    add_products(numbers.data(), inputs, weights.data(), stride, outputs, results.data());
    for (std::size_t o = 0; o < outputs; ++o) {
      float expected = -1;
      for (std::size_t i = 0; i < inputs; ++i) expected += numbers[i] * weights[i * stride + o];
      EXPECT_NEAR(results[o], expected, 1e-5) << outputs << " outputs";
    }
  }
}

}  // namespace
}  // namespace pareto::runtime::kernels
