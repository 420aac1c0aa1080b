#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "runtime/archive/operator_review.h"

namespace pareto::runtime {
namespace {

TEST(RefusedOperators, NamesArePartedByOneBlankStandOnceAndNowhereElse) {
  std::set<std::string> names;
  for (const OperatorGroup& group : refused_operators()) {
    EXPECT_FALSE(group.reason.empty()) << group.names;
    EXPECT_EQ(group.names.find("  "), std::string_view::npos) << group.reason;
    EXPECT_EQ(group.names.find_first_of(":\n\t."), std::string_view::npos) << group.reason;
    std::string_view rest = group.names;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      const std::string name = fmt::format("{}::{}", group.library, rest.substr(0, end));
      EXPECT_TRUE(names.insert(name).second) << name;
      // An operator of both lists would have the verdict of the one that was read last.
      EXPECT_EQ(review_operator(name).reason, group.reason) << name;
      EXPECT_EQ(review_operator(name).verdict, OperatorReview::Verdict::kRefused) << name;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  EXPECT_GT(names.size(), 500U);
}

TEST(RefusedOperators, AReasonEndsASentence) {
  for (const OperatorGroup& group : refused_operators()) {
    // "no shard may use the operator NAME: REASON; take it out of the model"
    EXPECT_EQ(group.reason.find('\n'), std::string_view::npos) << group.reason;
    EXPECT_FALSE(group.reason.ends_with('.')) << group.reason;
  }
}

TEST(RefusedOperators, HaveWhatReachesOutsideOfTheComputation) {
  for (const char* const name :
       {"aten::from_file", "aten::save", "aten::manual_seed", "aten::set_num_threads", "aten::set_",
        "aten::resize_", "aten::wait", "prim::fork", "prim::Print", "prim::PythonOp",
        "prim::rpc_async", "c10d::send", "c10d::recv_", "image::write_file",
        "video_reader::read_video_from_file", "profiler::_record_function_exit"}) {
    EXPECT_EQ(review_operator(name).verdict == OperatorReview::Verdict::kAllowed, false) << name;
    EXPECT_FALSE(check_operator(name)) << name;
  }
}

}  // namespace
}  // namespace pareto::runtime
