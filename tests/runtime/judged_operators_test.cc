// The lists of operators, against what LibTorch has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <torch/version.h>

#include <algorithm>
#include <set>
#include <string>

#include "runtime/archive/operator_review.h"

namespace pareto::runtime {
namespace {

using testing::HasSubstr;
using Verdict = OperatorReview::Verdict;

std::set<std::string> names_in(std::span<const OperatorGroup> groups) {
  std::set<std::string> names;
  for (const OperatorGroup& group : groups) {
    EXPECT_FALSE(group.reason.empty()) << group.names;
    std::istringstream words{std::string(group.names)};
    for (std::string word; words >> word;) {
      const std::string name = fmt::format("{}::{}", group.library, word);
      EXPECT_TRUE(names.insert(name).second) << name << " stands twice";
    }
  }
  return names;
}

TEST(JudgedOperators, NoOperatorIsInBothLists) {
  const std::set<std::string> allowed = names_in(allowed_operators());
  for (const std::string& name : names_in(refused_operators())) {
    EXPECT_FALSE(allowed.contains(name)) << name;
    EXPECT_EQ(review_operator(name).verdict, Verdict::kRefused) << name;
  }
  for (const std::string& name : allowed) {
    EXPECT_EQ(review_operator(name).verdict, Verdict::kAllowed) << name;
  }
}

TEST(JudgedOperators, EveryOperatorOfLibTorchWasJudged) {
#if TORCH_VERSION_MAJOR > 1
  GTEST_SKIP() << "operators that came with LibTorch 2 are refused until they were judged";
#endif
  std::set<std::string> names;
  for (const auto& known : torch::jit::getAllOperators()) names.insert(known->schema().name());
  EXPECT_GT(names.size(), 1500U);
  for (const std::string& name : names) {
    // Those of the daemon itself.
    if (name.starts_with("pareto::")) continue;
    EXPECT_NE(review_operator(name).verdict, Verdict::kUnknown) << name;
  }
}

TEST(JudgedOperators, WhatTouchesMoreThanNumbersIsRefused) {
  for (const char* const name :
       {"aten::from_file", "aten::save", "aten::set_", "aten::resize_", "aten::manual_seed",
        "aten::wait", "prim::Print", "prim::PythonOp", "prim::fork", "prim::rpc_async",
        "prim::InterfaceCall", "prim::CreateObject", "prim::SetAttr", "c10d::send",
        "profiler::_record_function_enter", "image::read_file", "aten::_sparse_coo_tensor_unsafe",
        "aten::linalg_ldl_solve"}) {
    const auto checked = check_operator(name);
    ASSERT_FALSE(checked) << name;
    EXPECT_EQ(checked.error().code, ErrorCode::kPermission);
    EXPECT_THAT(checked.error().message, HasSubstr(fmt::format("operator {}: ", name)));
  }
  const auto unknown = check_operator("mine::read_anything");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("mine::read_anything is not one"));
}

}  // namespace
}  // namespace pareto::runtime
