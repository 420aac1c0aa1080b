#include "runtime/archive/operator_review.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace pareto::runtime {
namespace {

using testing::HasSubstr;
using Verdict = OperatorReview::Verdict;

TEST(OperatorReview, AnUnknownOneIsRefusedWithTheRemedy) {
  for (const char* const name :
       {"mine::read_anything", "", "relu", "aten::", "::relu", "aten::relu ", " aten::relu",
        "ATEN::relu", "aten::Relu", "aten::relu.out", "aten:relu", "torch::relu"}) {
    EXPECT_EQ(review_operator(name).verdict, Verdict::kUnknown) << name;
    EXPECT_EQ(review_operator(name).reason, "");
    const auto checked = check_operator(name);
    ASSERT_FALSE(checked) << name;
    EXPECT_EQ(checked.error().code, ErrorCode::kPermission);
    EXPECT_THAT(checked.error().message, HasSubstr("--operators"));
  }
  EXPECT_FALSE(check_operator(std::string("aten::relu\0", 11)));
  EXPECT_FALSE(check_operator(std::string(1 << 20, 'a')));
}

TEST(OperatorReview, AVerdictHasTheReasonOfItsGroup) {
  EXPECT_EQ(review_operator("aten::relu").verdict, Verdict::kAllowed);
  EXPECT_EQ(review_operator("aten::save").verdict, Verdict::kRefused);
  EXPECT_EQ(review_operator("aten::save").reason, "it reads or writes files");
  EXPECT_TRUE(check_operator("aten::relu"));
  const auto refused = check_operator("aten::save");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "no shard may use the operator aten::save: it reads or writes files; take it out of "
            "the model");
}

TEST(OperatorReview, WhatOwnersAllowIsKnownToEveryThread) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      for (int k = 0; k < 50; ++k) {
        const std::string name = "review::op" + std::to_string(i) + "_" + std::to_string(k);
        EXPECT_EQ(review_operator(name).verdict, Verdict::kUnknown);
        allow_operator(name);
        EXPECT_TRUE(check_operator(name));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(check_operator("review::op0_49"));
  EXPECT_FALSE(check_operator("review::op0_50"));
  EXPECT_THAT(std::string(review_operator("review::op3_0").reason), HasSubstr("a library"));
}

TEST(OperatorReview, AnOwnerCannotAllowWhatAListRefuses) {
  for (const char* const name : {"aten::save", "prim::PythonOp", "image::read_file"}) {
    allow_operator(name);
    EXPECT_EQ(review_operator(name).verdict, Verdict::kRefused) << name;
    EXPECT_FALSE(check_operator(name)) << name;
  }
}

}  // namespace
}  // namespace pareto::runtime
