#include "coordinator/evaluation/answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "coordinator/evaluation/accuracy.h"
#include "tests/coordinator/support/small_model.h"

namespace pareto::evaluation {
namespace {

using testing::HasSubstr;

Value scores(const std::vector<std::vector<float>>& rows) {
  const auto classes = static_cast<std::int64_t>(rows.front().size());
  Tensor tensor =
      Tensor::allocate(DType::kFloat32, {static_cast<std::int64_t>(rows.size()), classes}).value();
  auto* values = reinterpret_cast<float*>(tensor.mutable_bytes().data());
  for (const auto& row : rows) values = std::ranges::copy(row, values).out;
  return tensor;
}

TEST(Answers, TheLabelHasAPlaceAmongTheClasses) {
  const std::vector<std::int64_t> labels{1, 0, 2};
  const auto answers = answers_of({scores({{1, 9, 3}, {2, 1, 5}, {-3, -2, -4}})}, labels);
  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_EQ((*answers)[0].best, 1);
  EXPECT_EQ((*answers)[0].place, 0);
  EXPECT_EQ((*answers)[1].best, 2);
  EXPECT_EQ((*answers)[1].place, 1);
  EXPECT_EQ((*answers)[2].place, 2);
}

TEST(Answers, OfEqualScoresTheFirstIsTheBest) {
  const std::vector<std::int64_t> labels{0, 1, 2};
  const auto answers = answers_of({scores({{4, 4, 4}, {4, 4, 4}, {4, 4, 4}})}, labels);
  for (const std::size_t i : {0U, 1U, 2U}) {
    EXPECT_EQ((*answers)[i].best, 0);
    EXPECT_EQ((*answers)[i].place, static_cast<std::int32_t>(i));
  }
}

TEST(Answers, ScoresThatAreNoNumbersAreNeverRight) {
  const std::vector<std::int64_t> labels{0, 1};
  const auto answers = answers_of({scores({{NAN, 1, 2}, {NAN, INFINITY, 2}})}, labels);
  for (const Answer& answer : *answers) {
    EXPECT_EQ(answer.best, -1);
    EXPECT_EQ(answer.place, 3);
  }
  EXPECT_EQ(accuracy_of(*answers, 3).top1.count, 0);
  const Agreement agreement = agreement_of(*answers, *answers);
  EXPECT_EQ(agreement.best.count, 0);
  EXPECT_EQ(agreement.bits.count, 2);
}

TEST(Answers, OnlySamplesWithALabelAreLookedAt) {
  const std::vector<std::int64_t> labels{1};
  const auto answers = answers_of({scores({{1, 2}, {2, 1}, {0, 0}})}, labels);
  ASSERT_TRUE(answers);
  EXPECT_EQ(answers->size(), 1U);
}

TEST(Answers, OtherOutputsAreRefused) {
  const std::vector<std::int64_t> labels{1, 1};
  const auto refused = [&](const std::vector<Value>& outputs, const std::string& sentence) {
    const auto answers = answers_of(outputs, labels);
    ASSERT_FALSE(answers);
    EXPECT_EQ(answers.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(answers.error().message, HasSubstr(sentence));
  };
  refused({}, "no tensor");
  refused({Value(std::int64_t{3})}, "no tensor");
  refused({scores({{1, 2}})}, "2 samples");
  refused({Tensor::allocate(DType::kFloat64, {2, 3}).value()}, "float64");
  refused({Tensor::allocate(DType::kFloat32, {2, 3, 4}).value()}, "2x3x4");
  refused({scores({{1}, {2}})}, "label 1");
}

TEST(Answers, AClassifierIsKnownByWhatItTakesAndGives) {
  const auto classifier = classifier_of(test::small_model());
  ASSERT_TRUE(classifier) << classifier.error().message;
  EXPECT_EQ(classifier->classes, 10);
  EXPECT_EQ(classifier->input_shape, (Shape{3, 64, 64}));
}

TEST(Accuracy, CountsTheFirstAndTheFirstFive) {
  std::vector<Answer> answers(8);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    answers[i] = {static_cast<std::int32_t>(i), static_cast<std::int32_t>(i), i};
  }
  const Accuracy accuracy = accuracy_of(answers, 8);
  EXPECT_EQ(accuracy.top1.count, 1);
  EXPECT_EQ(accuracy.top1.of, 8);
  ASSERT_TRUE(accuracy.top5);
  EXPECT_EQ(accuracy.top5->count, 5);
  EXPECT_FALSE(accuracy_of(answers, 5).top5);
  std::vector<Answer> others = answers;
  others[2].best = 7;
  others[2].bits = 99;
  others[5].bits = 99;
  const Agreement agreement = agreement_of(answers, others);
  EXPECT_EQ(agreement.best.count, 7);
  EXPECT_EQ(agreement.bits.count, 6);
  EXPECT_EQ(agreement.bits.of, 8);
}

}  // namespace
}  // namespace pareto::evaluation
