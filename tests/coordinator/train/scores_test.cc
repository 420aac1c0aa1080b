#include "coordinator/train/scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "small_data.h"

namespace pareto::train {
namespace {

using testing::HasSubstr;

Value labels(const std::vector<std::int64_t>& numbers) {
  auto tensor = Tensor::allocate(DType::kInt64, {std::ssize(numbers)}).value();
  std::memcpy(tensor.mutable_bytes().data(), numbers.data(), tensor.size_bytes());
  return tensor;
}

TEST(Scores, CountWhatIsCorrectAndItsEntropy) {
  Scores scores;
  ASSERT_TRUE(add_scores({tensor_of({2, 3}, {1, 2, 3, 5, 4, 1})}, labels({2, 1}), scores));
  ASSERT_TRUE(add_scores({tensor_of({1, 3}, {0, 0, 0})}, labels({0}), scores));
  EXPECT_EQ(scores.samples, 3);
  // Of equal outputs the first one counts, as with argmax.
  EXPECT_EQ(scores.correct, 2);
  const double expected = std::log(std::exp(-2.0) + std::exp(-1.0) + 1) +
                          std::log(1 + std::exp(-1.0) + std::exp(-4.0)) + 1 + std::log(3.0);
  EXPECT_NEAR(scores.cross_entropy, expected, 1e-12);
}

TEST(Scores, LargeOutputsDoNotOverflow) {
  Scores scores;
  ASSERT_TRUE(add_scores({tensor_of({1, 2}, {3e38F, -3e38F})}, labels({0}), scores));
  EXPECT_EQ(scores.cross_entropy, 0);
}

TEST(Scores, RefuseWhatIsNoClassifier) {
  Scores scores;
  const auto refused = add_scores({tensor_of({1, 3, 2}, {0, 0, 0, 0, 0, 0})}, labels({0}), scores);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("1x3x2"));
  EXPECT_FALSE(add_scores({}, labels({0}), scores));
  EXPECT_FALSE(add_scores({tensor_of({2, 2}, {0, 0, 0, 0})}, labels({0}), scores));
  const auto outside = add_scores({tensor_of({1, 2}, {0, 0})}, labels({2}), scores);
  ASSERT_FALSE(outside);
  EXPECT_THAT(outside.error().message, HasSubstr("label 2 of a model with 2 classes"));
  EXPECT_FALSE(add_scores({tensor_of({1, 2}, {0, 0})}, labels({-1}), scores));
}

TEST(Scores, FindNaN) {
  EXPECT_FALSE(holds_nan(tensor_of({3}, {0, -1, std::numeric_limits<float>::infinity()})));
  EXPECT_TRUE(holds_nan(tensor_of({3}, {0, -std::numeric_limits<float>::quiet_NaN(), 1})));
  EXPECT_FALSE(holds_nan(*labels({-1}).get_if<Tensor>()));
}

}  // namespace
}  // namespace pareto::train
