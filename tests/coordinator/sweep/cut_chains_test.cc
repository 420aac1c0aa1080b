#include "coordinator/sweep/cut_chains.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/coordinator/support/small_model.h"

namespace pareto::sweep {
namespace {

using testing::HasSubstr;

model::Cut cut(const std::string& name, plan::OperatorRanges before) {
  return {name, std::move(before)};
}

/// A stem of five, two branches behind it, and a place behind both.
std::vector<model::Cut> cuts() {
  return {cut("stem", {{0, 5}}), cut("left", {{0, 7}}), cut("right", {{0, 5}, {7, 9}}),
          cut("both", {{0, 9}})};
}

TEST(CutChains, HoldEachTheOneBefore) {
  EXPECT_TRUE(lies_behind(cuts()[3], cuts()[2]));
  EXPECT_FALSE(lies_behind(cuts()[2], cuts()[3]));
  EXPECT_FALSE(lies_behind(cuts()[2], cuts()[1])) << "another branch";
  EXPECT_FALSE(lies_behind(cuts()[2], cuts()[2]));
  CutChains chains(cuts());
  EXPECT_EQ(chains.number_of(1), 4);
  EXPECT_EQ(chains.number_of(2), 5) << "all pairs but the two branches";
  EXPECT_EQ(chains.number_of(3), 2);
  EXPECT_EQ(chains.number_of(4), 0);
  for (std::size_t count = 1; count <= 4; ++count) {
    EXPECT_EQ(static_cast<double>(chains.of(count).size()), chains.number_of(count)) << count;
  }
  EXPECT_EQ(chains.of(3)[1][1].name, "right");
}

TEST(CutChains, OfPositionsAreAllChoices) {
  std::vector<model::Cut> positions;
  for (std::int64_t at = 1; at <= 20; ++at) positions.push_back(cut("op", {{0, at}}));
  CutChains chains(positions);
  EXPECT_EQ(chains.number_of(3), 20 * 19 * 18 / 6);
  EXPECT_EQ(chains.of(2).size(), 190U);
}

TEST(PlanOfCuts, HasStagesThatRunWhatLiesBetween) {
  const model::Model model = test::small_model();
  const auto end = static_cast<std::int64_t>(model.graph().operators.size());
  const auto all = cuts();
  const auto plan = plan_of_cuts(model, {all[2], all[3]}, {"a", "b", "c"}, 4, {});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->splits, (std::vector<std::string>{"right", "both"}));
  ASSERT_EQ(plan->stages.size(), 3U);
  EXPECT_EQ(plan->stages[0].operators, (plan::OperatorRanges{{0, 5}, {7, 9}}));
  EXPECT_EQ(plan->stages[1].operators, (plan::OperatorRanges{{5, 7}}));
  EXPECT_EQ(plan->stages[1].begin, 7);
  EXPECT_TRUE(plan->stages[2].operators.empty()) << "the model's order, as positions have it";
  EXPECT_EQ(plan->stages[2].end, end);
  EXPECT_TRUE(plan::plan_from_json(to_json(*plan)));
  EXPECT_THAT(plan_of_cuts(model, {all[1], all[2]}, {"a", "b", "c"}, 4, {}).error().message,
              HasSubstr("right does not lie behind left"));
  EXPECT_THAT(plan_of_cuts(model, {all[1]}, {"a"}, 4, {}).error().message,
              HasSubstr("2 stages need as many devices"));
}

}  // namespace
}  // namespace pareto::sweep
