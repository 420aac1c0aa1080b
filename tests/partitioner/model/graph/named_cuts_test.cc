// Names of cuts before sets of operators: they are found, refused with what forbids them, and lead
// back to the same set.
#include "partitioner/model/graph/named_cuts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "partitioner/model/graph/groups.h"
#include "tests/partitioner/model/graph/hand_made.h"

namespace pareto::model {
namespace {

using test::HandMade;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// A stem, two branches listed in turns, a third one, and what joins them: 0 stem, 1 left.conv, 2
/// right.a, 3 left.norm, 4 right.b, 5 third, 6 join.
class NamedCuts : public testing::Test {
 protected:
  NamedCuts() {
    HandMade made;
    made.input("x").op("s", "aten::relu", "stem", {"x"});
    made.op("lc", "aten::conv2d", "left.conv", {"s"}).op("ra", "aten::relu", "right.a", {"s"});
    made.op("ln", "aten::batch_norm", "left.norm", {"lc"});
    made.op("rb", "aten::relu", "right.b", {"ra"}).op("t", "aten::relu", "third", {"s"});
    made.op("j", "aten::cat", "join", {"ln", "rb", "t"}).output("j");
    graph_ = made.graph();
    graph_.ties = ties_of_pairs(graph_);
    graph_.groups = inseparable_groups(graph_, {});
    points_ = find_split_points(graph_, {});
  }

  Expected<Cut> find(const std::string& name) const { return find_cut(graph_, points_, name); }
  plan::OperatorRanges before(const std::string& name) const {
    const auto cut = find(name);
    EXPECT_TRUE(cut) << cut.error().message;
    return cut ? cut->before : plan::OperatorRanges{};
  }
  std::string refusal(const std::string& name) const {
    const auto cut = find(name);
    EXPECT_FALSE(cut) << name;
    return cut ? "" : cut.error().message;
  }

  Graph graph_;
  std::vector<SplitPoint> points_;
};

TEST_F(NamedCuts, OfSeveralModulesAreTheSmallestSetsThatHoldThem) {
  EXPECT_EQ(before("after:left+third"), (plan::OperatorRanges{{0, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(before("after:third+left"), before("after:left+third"));
  EXPECT_EQ(before("only:right"), (plan::OperatorRanges{{0, 1}, {2, 3}, {4, 5}}));
  EXPECT_EQ(before("after:right"), (plan::OperatorRanges{{0, 5}})) << "a position, as ever";
  EXPECT_EQ(before("after:right.a+third"), (plan::OperatorRanges{{0, 1}, {2, 3}, {5, 6}}));
}

TEST_F(NamedCuts, OfOperatorsAreThoseSets) {
  EXPECT_EQ(before("op:2:3-4"), (plan::OperatorRanges{{0, 2}, {3, 4}}));
  EXPECT_EQ(before("op:4"), (plan::OperatorRanges{{0, 4}}));
  for (const char* bad : {"op:4:2-3", "op:2:4-4", "op:2:x-4", "op:2:3-4-5", "op:2:-"}) {
    EXPECT_THAT(refusal(bad), HasSubstr("ranges of operators ascend")) << bad;
  }
}

TEST_F(NamedCuts, ThatAreNotValidAreRefusedWithTheValueAndTheOperator) {
  EXPECT_THAT(refusal("op:1:6-7"),
              AllOf(HasSubstr("operator 6 (aten::cat in join)"), HasSubstr("which it needs"),
                    HasSubstr("value ln (float32[Bx4])")));
  EXPECT_THAT(refusal("after:left.conv+third"),
              AllOf(HasSubstr("no cut at \"after:left.conv+third\""),
                    HasSubstr("operator 1 (aten::conv2d in left.conv)"),
                    HasSubstr("batch norm (left.norm), which every device folds into one")));
  EXPECT_THAT(refusal("only:left.conv"), HasSubstr("batch norm (left.norm)")) << "a position";
  EXPECT_THAT(refusal("after:join+left"), HasSubstr("nothing lies behind it"));
  EXPECT_THAT(refusal("after:left+thirt"), HasSubstr("no module \"thirt\" (did you mean third"));
  EXPECT_THAT(refusal("op:2:90-99"), HasSubstr("of a model that has 7"));
  EXPECT_THAT(refusal("op:2"), HasSubstr("batch norm"));
}

TEST_F(NamedCuts, LeadBackToTheirSets) {
  const auto needed = needed_by_each(graph_);
  std::set<std::string> names;
  for (unsigned bits = 1; bits < 128; ++bits) {
    std::vector<std::int64_t> operators;
    for (std::int64_t op = 0; op < 7; ++op) {
      if ((bits >> op & 1U) != 0) operators.push_back(op);
    }
    const auto cut = checked_cut(graph_, points_, plan::ranges_of(operators));
    if (!cut) continue;
    EXPECT_EQ(before(cut->name), cut->before) << cut->name;
    EXPECT_TRUE(names.insert(cut->name).second) << cut->name;
  }
  EXPECT_EQ(names.size(), 12U) << "the stem, and of the branches 2 x 3 x 2 places but all of them";
  EXPECT_TRUE(names.contains("after:left+third"));
  EXPECT_TRUE(names.contains("only:right.a"));
  EXPECT_TRUE(names.contains("after:stem"));
}

TEST_F(NamedCuts, ThatNoModulesNameAreNamedByTheirOperators) {
  graph_.operators[4].scope = "";
  graph_.operators[5].scope = "";
  points_ = find_split_points(graph_, {});
  EXPECT_EQ(name_of_cut(graph_, points_, {{0, 1}, {2, 3}, {4, 5}}), "op:1:2-3:4-5");
}

TEST(CutNames, ArePartedAtCommasAndWhereANameBegins) {
  EXPECT_THAT(split_cut_names("after:a+after:b,op:3"), ElementsAre("after:a", "after:b", "op:3"));
  EXPECT_THAT(split_cut_names("after:a+b+op:4:6-7"), ElementsAre("after:a+b", "op:4:6-7"));
  EXPECT_THAT(split_cut_names("percent:20+auto"), ElementsAre("percent:20", "auto"));
  EXPECT_THAT(split_cut_names(""), ElementsAre());
}

}  // namespace
}  // namespace pareto::model
