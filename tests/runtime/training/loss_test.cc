#include "runtime/training/loss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/runtime/hand_made_shard.h"

namespace pareto::runtime {
namespace {

using testing::HasSubstr;

Value bytes_of(const at::Tensor& tensor) { return from_torch(tensor).value(); }

Expected<Loss> written_loss(const std::string& arguments, const std::string& body) {
  test::HandMadeShard shard;
  for (std::size_t i = std::ranges::count(arguments, ','); i > 0; --i) {
    shard.input("value " + std::to_string(i), None{});
  }
  shard.code("def run(self" + arguments + "):\n    " + body + "\n");
  const WeightSource none = [](const Digest& /*digest*/) -> Expected<Tensor> {
    return fail(ErrorCode::kNotFound, "no tensor");
  };
  return Loss::load(shard.shard(), none, at::kCPU);
}

Loss cross_entropy() {
  return written_loss(", x, target: Tensor",
                      "return (torch.nll_loss(torch.log_softmax(x, 1), target),)")
      .value();
}

/// Returns what compute() throws, or "none".
template <typename Error>
std::string thrown_by(const Loss& loss, const std::vector<c10::IValue>& outputs,
                      const Value& target) {
  try {
    loss.compute(outputs, target);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Loss, CrossEntropyAndItsGradientAreThoseByHand) {
  at::manual_seed(3);
  const Loss loss = cross_entropy();
  for (const std::int64_t rows : {1, 2, 7}) {
    const at::Tensor logits = (at::randn({rows, 5}) * 4).requires_grad_();
    const at::Tensor labels = at::randint(5, {rows}, at::kLong);
    const at::Tensor given = loss.compute({logits}, bytes_of(labels));
    given.backward();
    double expected = 0;
    at::Tensor gradient = at::zeros({rows, 5}, at::kDouble);
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto label = labels[row].item<std::int64_t>();
      double sum = 0;
      for (int k = 0; k < 5; ++k) sum += std::exp(logits[row][k].item<double>());
      expected += std::log(sum) - logits[row][label].item<double>();
      for (int k = 0; k < 5; ++k) {
        const double share = std::exp(logits[row][k].item<double>()) / sum;
        gradient[row][k] = (share - (k == label ? 1 : 0)) / static_cast<double>(rows);
      }
    }
    EXPECT_NEAR(given.item<double>(), expected / static_cast<double>(rows), 1e-5);
    EXPECT_TRUE(logits.grad().to(at::kDouble).allclose(gradient, 1e-4, 1e-6));
  }
}

TEST(Loss, TakesSeveralOutputsAndATargetThatIsNoTensor) {
  const auto loss = written_loss(", x, y, scale: float", "return ((x - y).pow(2).sum() * scale,)");
  ASSERT_TRUE(loss) << loss.error().message;
  const at::Tensor x = at::ones({3});
  EXPECT_EQ(loss->compute({x, x * 3}, 0.5).item<float>(), 6);
  EXPECT_THAT(thrown_by<c10::Error>(*loss, {x, x}, "half"), HasSubstr(""));
  EXPECT_NE(thrown_by<c10::Error>(*loss, {x, x}, "half"), "none");
}

TEST(Loss, ATensorOfOneNumberInAnyShapeIsAScalar) {
  const auto loss = written_loss(", x, t: Tensor", "return ((x * t).sum().reshape([1, 1]),)");
  ASSERT_TRUE(loss) << loss.error().message;
  EXPECT_EQ(loss->compute({at::full({4}, 2.0)}, bytes_of(at::ones({4}))).item<float>(), 8);
}

TEST(Loss, AnotherNumberOfOutputsIsRefused) {
  const Loss loss = cross_entropy();
  const Value labels = bytes_of(at::zeros({1}, at::kLong));
  const at::Tensor row = at::zeros({1, 2});
  EXPECT_THAT(thrown_by<std::runtime_error>(loss, {}, labels),
              HasSubstr("takes 2 values; the model has 0 outputs"));
  EXPECT_THAT(thrown_by<std::runtime_error>(loss, {row, row}, labels),
              HasSubstr("the model has 2 outputs"));
}

TEST(Loss, WhatIsNoTensorOfOneFloatIsRefused) {
  const Value target = bytes_of(at::zeros({1}));
  for (const char* const body :
       {"return (x,)", "return (x.sum(), x.sum())", "return (1.5,)", "return ((x > 0).sum(),)",
        "return (x.sum().to(4),)", "return ([x.sum()],)", "return (x[:0],)"}) {
    const auto loss = written_loss(", x, target: Tensor", body);
    ASSERT_TRUE(loss) << body << ": " << loss.error().message;
    EXPECT_THAT(thrown_by<std::runtime_error>(*loss, {at::ones({2})}, target),
                HasSubstr("no scalar"))
        << body;
  }
}

TEST(Loss, OneThatTakesNoValuesIsRefused) {
  const auto loss = written_loss("", "return (torch.ones([1]),)");
  ASSERT_FALSE(loss);
  EXPECT_EQ(loss.error().code, ErrorCode::kInvalidArgument);
}

TEST(Loss, AFailureInItLeavesItUsable) {
  const Loss loss = cross_entropy();
  const at::Tensor logits = at::zeros({2, 3});
  EXPECT_ANY_THROW(loss.compute({logits}, bytes_of(at::tensor({0, 3}, at::kLong))));
  EXPECT_ANY_THROW(loss.compute({logits}, bytes_of(at::tensor({0}, at::kLong))));
  EXPECT_ANY_THROW(loss.compute({logits}, bytes_of(at::tensor({0.0, 1.0}))));
  EXPECT_NEAR(loss.compute({logits}, bytes_of(at::tensor({0, 2}, at::kLong))).item<double>(),
              std::log(3.0), 1e-6);
}

TEST(CountCorrect, CountsRowsWithTheLargestNumberAtTheLabel) {
  at::manual_seed(4);
  for (int round = 0; round < 20; ++round) {
    const std::int64_t rows = round % 5;
    const std::int64_t classes = 1 + round % 4;
    // Few different numbers: the first of equal ones counts.
    const at::Tensor output = at::randint(3, {rows, classes}).to(at::kFloat);
    const at::Tensor labels = at::randint(classes, {rows}, at::kLong);
    std::int64_t expected = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      std::int64_t best = 0;
      for (std::int64_t k = 1; k < classes; ++k) {
        if (output[row][k].item<float>() > output[row][best].item<float>()) best = k;
      }
      expected += best == labels[row].item<std::int64_t>() ? 1 : 0;
    }
    EXPECT_EQ(count_correct(output, bytes_of(labels)), expected);
  }
}

TEST(CountCorrect, LabelsOutsideTheClassesAreWrong) {
  EXPECT_EQ(count_correct(at::ones({3, 2}), bytes_of(at::tensor({-1, 2, 0}, at::kLong))), 1);
}

TEST(CountCorrect, WhatIsNoClassifierHasNoCount) {
  const Value labels = bytes_of(at::tensor({0, 1}, at::kLong));
  const at::Tensor rows = at::ones({2, 3});
  EXPECT_EQ(count_correct(rows, labels), 1);
  EXPECT_EQ(count_correct(rows, bytes_of(at::ones({2}))), -1) << "labels are whole numbers";
  EXPECT_EQ(count_correct(rows, bytes_of(at::zeros({2, 1}, at::kLong))), -1);
  EXPECT_EQ(count_correct(rows, bytes_of(at::zeros({}, at::kLong))), -1);
  EXPECT_EQ(count_correct(rows, bytes_of(at::zeros({3}, at::kLong))), -1);
  EXPECT_EQ(count_correct(rows, std::int64_t{0}), -1);
  EXPECT_EQ(count_correct(rows, None{}), -1);
  EXPECT_EQ(count_correct(at::ones({2}), labels), -1);
  EXPECT_EQ(count_correct(at::ones({2, 3, 1}), labels), -1);
  EXPECT_EQ(count_correct(at::ones({2, 0}), labels), -1);
  EXPECT_EQ(count_correct(1.5, labels), -1);
}

}  // namespace
}  // namespace pareto::runtime
