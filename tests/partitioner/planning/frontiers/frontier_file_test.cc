#include "partitioner/planning/frontiers/frontier_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/coordinator/support/small_model.h"

namespace pareto::planning {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class FrontierFiles : public testing::Test {
 protected:
  Expected<model::Cut> cut(const std::string& text) const {
    PARETO_ASSIGN(const FrontierFile file, parse_frontier(text, "cut.yaml"));
    return cut_of(file, model_.graph(), model_.split_points());
  }
  plan::OperatorRanges before(const std::string& text) const {
    const auto found = cut(text);
    EXPECT_TRUE(found) << found.error().message;
    return found ? found->before : plan::OperatorRanges{};
  }
  std::string refusal(const std::string& text) const {
    const auto found = cut(text);
    EXPECT_FALSE(found) << text;
    return found ? "" : found.error().message;
  }

  // Operator 4 feeds two branches: 5, 6 and 7, 8.
  const model::Model model_ = test::small_model();
};

TEST_F(FrontierFiles, NameModulesAndOperatorsWithAllThatTheseNeed) {
  const plan::OperatorRanges right{{0, 5}, {7, 9}};
  EXPECT_EQ(before("modules: [features.3.expand3x3_activation]\n"), right);
  EXPECT_EQ(before("operators: [8]\n"), right);
  EXPECT_EQ(before("operators: [7-9]\nmodules: [features.0]\n"), right);
  EXPECT_EQ(before("{\"modules\": [\"features.3.expand3x3_activation\"]}"), right) << "JSON";
  EXPECT_EQ(cut("operators: [8]\n")->name, "only:features.3.expand3x3_activation");
}

TEST_F(FrontierFiles, NameRangesAsTheyAre) {
  EXPECT_EQ(before("ranges: [0-5, 7, 8]\n"), (plan::OperatorRanges{{0, 5}, {7, 9}}));
  EXPECT_THAT(refusal("ranges: [0-5, 8]\n"),
              AllOf(HasSubstr("operator 8"), HasSubstr("operator 7"), HasSubstr("which it needs"),
                    HasSubstr("float32[B")));
}

TEST_F(FrontierFiles, ThatAreNoneAreRefusedWithTheLine) {
  EXPECT_THAT(refusal("modules: [features.3]\nranges: [0-5]\n"),
              AllOf(HasSubstr("cut.yaml:2"), HasSubstr("leave out modules and operators")));
  EXPECT_THAT(refusal("module: [features.3]\n"), HasSubstr("modules"));
  EXPECT_THAT(refusal("operators: [5-3]\n"), HasSubstr("\"5-3\" is neither"));
  EXPECT_THAT(refusal("operators: [five]\n"), HasSubstr("\"five\" is neither"));
  EXPECT_THAT(refusal("modules: [features.33]\n"), HasSubstr("no module \"features.33\""));
  EXPECT_THAT(refusal("operators: [5000]\n"), HasSubstr("of a model that has"));
  EXPECT_THAT(refusal("ranges: [0-5000]\n"), HasSubstr("of a model that has"));
  EXPECT_THAT(refusal("ranges: []\n"), HasSubstr("no operator lies before it"));
  EXPECT_THAT(refusal(fmt::format("operators: [{}]\n", model_.graph().operators.size() - 1)),
              HasSubstr("nothing lies behind it"));
  const auto absent = read_frontier("/nowhere/cut.yaml");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace pareto::planning
