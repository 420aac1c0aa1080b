#include "runtime/training/tied_parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "runtime/torch/convert.h"

namespace pareto::runtime {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Tensor gradient_bytes(const at::Tensor& tensor) { return from_torch(tensor).value(); }

/// A stage with one tied parameter "w" of two numbers.
struct TiedStage {
  TiedStage(bool earlier, bool later) { tied.add({"w", earlier, later}, weight); }

  /// Does what a trainer does: a later stage's gradients come first, the own ones are added.
  plan::TiedGradients go_back(plan::TiedGradients came, const at::Tensor& own) {
    plan::TiedGradients passed;
    auto taken = tied.take_later(std::move(came), passed).value();
    for (auto& [parameter, gradient] : taken) parameter.mutable_grad() = gradient.clone();
    at::Tensor& sum = weight.mutable_grad();
    sum = sum.defined() ? sum + own : own.clone();
    EXPECT_TRUE(tied.pass_or_sum(passed));
    return passed;
  }

  at::Tensor weight = at::zeros({2}).requires_grad_();
  TiedParameters tied{at::kCPU};
};

TEST(TiedParameters, EveryStageStepsWithTheSumOfAllStagesAndMicroBatches) {
  at::manual_seed(6);
  TiedStage first(false, true);
  TiedStage middle(true, true);
  TiedStage last(true, false);
  for (int step = 0; step < 3; ++step) {
    at::Tensor expected = at::zeros({2});
    for (int micro = 0; micro < 4; ++micro) {
      const at::Tensor own = at::randint(9, {3, 2}).to(at::kFloat);
      expected += own.sum(0);
      auto passed = last.go_back({}, own[0]);
      ASSERT_EQ(passed.size(), 1U);
      passed = middle.go_back(std::move(passed), own[1]);
      ASSERT_EQ(passed.size(), 1U);
      EXPECT_THAT(first.go_back(std::move(passed), own[2]), IsEmpty());
    }
    EXPECT_TRUE(first.tied.gradient_of("w", first.weight).equal(expected));
    plan::TiedGradients sums;
    for (TiedStage* const stage : {&first, &middle, &last}) {
      ASSERT_TRUE(stage->tied.take_sums(sums));
      EXPECT_TRUE(stage->weight.grad().equal(expected)) << "step " << step;
    }
    EXPECT_EQ(sums.size(), 1U);
  }
}

TEST(TiedParameters, TheSumThatTravelsIsNotTheOptimisersToChange) {
  TiedStage first(false, true);
  TiedStage last(true, false);
  first.go_back(last.go_back({}, at::ones({2})), at::ones({2}));
  plan::TiedGradients sums;
  ASSERT_TRUE(first.tied.take_sums(sums));
  first.weight.mutable_grad().fill_(50);
  ASSERT_TRUE(last.tied.take_sums(sums));
  EXPECT_TRUE(last.weight.grad().equal(at::full({2}, 2.0)));
  last.weight.mutable_grad().fill_(60);
  EXPECT_TRUE(to_torch(sums[0].second).equal(at::full({2}, 2.0)));
}

TEST(TiedParameters, OneThatNoMicroBatchUsedHasNoGradient) {
  TiedStage first(false, true);
  TiedStage last(true, false);
  plan::TiedGradients passed;
  ASSERT_TRUE(last.tied.take_later({}, passed));
  ASSERT_TRUE(last.tied.pass_or_sum(passed));
  EXPECT_THAT(passed, IsEmpty());
  first.weight.mutable_grad() = at::ones({2});  // left from a step before
  plan::TiedGradients sums;
  ASSERT_TRUE(first.tied.take_sums(sums));
  ASSERT_TRUE(last.tied.take_sums(sums));
  EXPECT_THAT(sums, IsEmpty());
  EXPECT_FALSE(first.weight.grad().defined());
  EXPECT_FALSE(last.weight.grad().defined());
}

TEST(TiedParameters, WhatAStageDoesNotHavePassesInOrder) {
  TiedStage stage(true, true);
  plan::TiedGradients came{{"x", gradient_bytes(at::ones({3}))},
                           {"w", gradient_bytes(at::ones({2}))},
                           {"", gradient_bytes(at::ones({1}))}};
  plan::TiedGradients passed;
  const auto later = stage.tied.take_later(came, passed);
  ASSERT_TRUE(later);
  ASSERT_EQ(later->size(), 1U);
  EXPECT_TRUE((*later)[0].first.is_same(stage.weight));
  ASSERT_EQ(passed.size(), 2U);
  EXPECT_EQ(passed[0].first, "x");
  EXPECT_EQ(passed[1].first, "");
}

TEST(TiedParameters, GradientsOfAnotherShapeOrTypeAreRefused) {
  for (const at::Tensor& wrong :
       {at::ones({3}), at::ones({1, 2}), at::ones({}), at::ones({0}), at::ones({2}, at::kDouble),
        at::ones({2}, at::kInt), at::ones({2}, at::kBFloat16)}) {
    TiedStage stage(true, false);
    plan::TiedGradients passed;
    const auto later = stage.tied.take_later({{"w", gradient_bytes(wrong)}}, passed);
    ASSERT_FALSE(later) << wrong.sizes();
    EXPECT_EQ(later.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(later.error().message, HasSubstr("the gradient of w has another shape"));
    plan::TiedGradients sums{{"w", gradient_bytes(wrong)}};
    EXPECT_FALSE(stage.tied.take_sums(sums)) << wrong.sizes();
  }
}

TEST(TiedParameters, AGradientThatComesTwiceIsTakenTwice) {
  TiedStage stage(false, true);
  const Tensor one = gradient_bytes(at::ones({2}));
  plan::TiedGradients passed;
  const auto later = stage.tied.take_later({{"w", one}, {"w", one}}, passed);
  ASSERT_TRUE(later);
  EXPECT_EQ(later->size(), 2U);
}

TEST(TiedParameters, KnowsWhichStageCountsAParameter) {
  const TiedStage first(false, true);
  const TiedStage last(true, false);
  EXPECT_FALSE(first.tied.is_earlier("w"));
  EXPECT_TRUE(last.tied.is_earlier("w"));
  EXPECT_FALSE(last.tied.is_earlier("v"));
  const at::Tensor other = at::ones({2}).requires_grad_();
  other.mutable_grad() = at::full({2}, 3.0);
  EXPECT_TRUE(first.tied.gradient_of("v", other).equal(other.grad()));
  EXPECT_FALSE(first.tied.gradient_of("w", first.weight).defined()) << "nothing is summed yet";
}

}  // namespace
}  // namespace pareto::runtime
