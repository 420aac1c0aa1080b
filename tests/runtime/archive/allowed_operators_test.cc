#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <string_view>

#include "runtime/archive/operator_review.h"

namespace pareto::runtime {
namespace {

TEST(AllowedOperators, NamesArePartedByOneBlankAndStandOnce) {
  std::set<std::string> names;
  for (const OperatorGroup& group : allowed_operators()) {
    EXPECT_FALSE(group.library.empty());
    EXPECT_FALSE(group.reason.empty());
    EXPECT_FALSE(group.names.empty()) << group.reason;
    EXPECT_EQ(group.names.find("  "), std::string_view::npos) << group.reason;
    EXPECT_EQ(group.names.find_first_of(":\n\t."), std::string_view::npos) << group.reason;
    EXPECT_NE(group.names.front(), ' ') << group.reason;
    EXPECT_NE(group.names.back(), ' ') << group.reason;
    std::string_view rest = group.names;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      const std::string name = fmt::format("{}::{}", group.library, rest.substr(0, end));
      EXPECT_TRUE(names.insert(name).second) << name;
      EXPECT_TRUE(check_operator(name)) << name;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  EXPECT_GT(names.size(), 500U);
}

TEST(AllowedOperators, HaveWhatLayersOfKnownModelsAreMadeOf) {
  for (const char* const name : {"aten::conv2d",
                                 "aten::_convolution",
                                 "aten::batch_norm",
                                 "aten::linear",
                                 "aten::relu",
                                 "aten::relu_",
                                 "aten::max_pool2d",
                                 "aten::adaptive_avg_pool2d",
                                 "aten::cat",
                                 "aten::flatten",
                                 "aten::softmax",
                                 "aten::layer_norm",
                                 "aten::matmul",
                                 "aten::embedding",
                                 "aten::gelu",
                                 "aten::silu",
                                 "aten::hardswish",
                                 "aten::upsample_nearest2d",
                                 "aten::dropout",
                                 "aten::transpose",
                                 "aten::chunk",
                                 "prim::If",
                                 "prim::Loop",
                                 "prim::ListConstruct",
                                 "prim::TupleConstruct",
                                 "prim::GetAttr"}) {
    EXPECT_TRUE(check_operator(name)) << name;
  }
}

TEST(AllowedOperators, HaveNothingThatReachesOutsideOfTheComputation) {
  // A word of a name that no operator has which only computes.
  constexpr std::array kWords{"file", "save", "load", "seed",  "thread", "send",
                              "recv", "rpc",  "fork", "Print", "Python", "record_function"};
  for (const OperatorGroup& group : allowed_operators()) {
    for (const std::string_view word : kWords) {
      EXPECT_EQ(group.names.find(word), std::string_view::npos) << group.library << "::…" << word;
    }
  }
}

}  // namespace
}  // namespace pareto::runtime
