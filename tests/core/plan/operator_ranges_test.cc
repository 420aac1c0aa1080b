#include "core/plan/operator_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pareto::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(OperatorRanges, AreASetWrittenInOneWay) {
  const OperatorRanges ranges = united({{50, 60}, {0, 30}, {20, 41}, {60, 61}});
  EXPECT_EQ(ranges, (OperatorRanges{{0, 41}, {50, 61}}));
  EXPECT_EQ(count_of(ranges), 52);
  EXPECT_EQ(ranges_of(operators_in(ranges)), ranges);
  EXPECT_THAT(operators_in({{3, 5}, {7, 8}}), ElementsAre(3, 4, 7));
  EXPECT_THAT(ranges_of({}), IsEmpty());
  EXPECT_EQ(to_string(ranges), "[0, 41) [50, 61)");
}

TEST(OperatorRanges, HoldWhatLiesInOneOfThem) {
  const OperatorRanges ranges{{2, 4}, {7, 8}};
  for (const std::int64_t op : {2, 3, 7}) EXPECT_TRUE(holds(ranges, op)) << op;
  for (const std::int64_t op : {-1, 0, 1, 4, 6, 8}) EXPECT_FALSE(holds(ranges, op)) << op;
  EXPECT_FALSE(holds({}, 0));
}

TEST(ShardOperators, HaveTheirPlaceInThePlansOrder) {
  const ShardOperators row = ShardOperators::between(41, 153);
  EXPECT_EQ(row.before, (OperatorRanges{{0, 41}}));
  EXPECT_EQ(row.begin(), 41);
  EXPECT_EQ(row.end(), 153);
  EXPECT_THAT(ShardOperators::between(0, 3).before, IsEmpty());
  const ShardOperators branch{{{0, 4}, {6, 8}}, {{4, 6}, {9, 10}}};
  EXPECT_EQ(branch.begin(), 6);
  EXPECT_EQ(branch.end(), 9);
  EXPECT_EQ(branch.with_own(), (OperatorRanges{{0, 8}, {9, 10}}));
}

}  // namespace
}  // namespace pareto::plan
