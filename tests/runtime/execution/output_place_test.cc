#include "runtime/execution/output_place.h"

#include <gtest/gtest.h>

namespace pareto::runtime {
namespace {

/// Makes one tensor after others of the same size.
at::Tensor compute(const at::Tensor& input) {
  const at::Tensor first = input * 2;
  const at::Tensor second = first + 1;
  return (second * first).relu();
}

class Places : public testing::Test {
 protected:
  /// Runs a computation with a place for its result, and returns whether it lies there.
  template <typename Compute>
  bool run(const Compute& compute, const at::Tensor& wanted) {
    place_.want(wanted);
    at::Tensor made;
    {
      const OutputPlace::Scope scope({&place_});
      made = compute();
    }
    const bool placed = place_.settle(made);
    EXPECT_EQ(placed, wanted.defined() && made.data_ptr() == wanted.data_ptr());
    return placed;
  }

  const c10::InferenceMode inference_;
  OutputPlace place_;
  at::Tensor input_ = at::randn({4, 16});
};

TEST_F(Places, TheThirdResultLiesInItsPlace) {
  const at::Tensor whole = at::zeros({8, 16});
  const auto once = [&] { return compute(input_); };
  EXPECT_FALSE(run(once, {}));
  EXPECT_FALSE(run(once, whole.narrow(0, 4, 4)));
  EXPECT_TRUE(run(once, whole.narrow(0, 4, 4)));
  EXPECT_TRUE(run(once, whole.narrow(0, 0, 4)));
  EXPECT_TRUE(whole.equal(at::cat({compute(input_), compute(input_)})));
}

TEST_F(Places, WhatLiesThereKeepsTheWholeAlive) {
  const auto once = [&] { return compute(input_); };
  run(once, {});
  run(once, {});
  at::Tensor kept;
  {
    const at::Tensor whole = at::zeros({8, 16});
    ASSERT_TRUE(run([&] { return kept = compute(input_); }, whole.narrow(0, 0, 4)));
  }
  EXPECT_TRUE(kept.equal(compute(input_)));
}

TEST_F(Places, AComputationThatChangesHasNone) {
  const auto once = [&] { return compute(input_); };
  run(once, {});
  run(once, {});
  const at::Tensor whole = at::zeros({8, 16});
  at::Tensor made;
  EXPECT_FALSE(run([&] { return made = at::relu(compute(input_)); }, whole.narrow(0, 0, 4)));
  EXPECT_TRUE(made.equal(compute(input_)));
  EXPECT_FALSE(run(once, whole.narrow(0, 0, 4))) << "it is not tried again";
}

TEST_F(Places, AnArgumentThatIsPassedOnHasNone) {
  const at::Tensor whole = at::zeros({8, 16});
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(run([&] { return input_; }, whole.narrow(0, 0, 4)));
  }
}

TEST_F(Places, RowsBetweenTwoLinesOfTheCacheAreNone) {
  input_ = at::randn({4, 3});
  const at::Tensor whole = at::zeros({8, 3});
  const auto once = [&] { return compute(input_); };
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(run(once, whole.narrow(0, 4, 4)));
}

}  // namespace
}  // namespace pareto::runtime
