#include "partitioner/planning/inputs/ideal_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partitioner/planning/inputs/cut_space.h"
#include "tests/coordinator/support/small_model.h"

namespace pareto::planning {
namespace {

TEST(PlacementAmong, IsThatWhichAPlanWasMadeOf) {
  const model::Model model = test::small_model();
  const search::GraphIdeals ideals = choose_cuts(model, 1, Cuts::kIdeals)->ideals.value();
  std::vector<DeviceFacts> devices(2);
  devices[0].profile.device = "a";
  devices[1].profile.device = "b";
  const int last = static_cast<int>(ideals.operators.size()) - 1;
  int with_own_order = 0;
  for (int cut = 1; cut < last; ++cut) {
    const Placement placement{{{1, 0, cut}, {0, cut, last}}};
    plan::Plan plan;
    place_ideals(model, ideals, devices, placement, plan);
    with_own_order += plan.has_own_order() ? 1 : 0;
    const auto found = placement_among(plan, ideals, devices);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->stages, placement.stages);
  }
  EXPECT_GT(with_own_order, 0);

  plan::Plan plan;
  place_ideals(model, ideals, devices, {{{0, 0, last}, {1, 0, last}}, {}, true}, plan);
  EXPECT_TRUE(plan.replicated);
  const auto replicas = placement_among(plan, ideals, devices).value();
  EXPECT_TRUE(replicas.replicated);
  EXPECT_EQ(replicas.stages, (std::vector<PlacedStage>{{0, 0, last}, {1, 0, last}}));

  place_ideals(model, ideals, devices, {{{0, 0, last}}}, plan);
  const auto code = [&] { return placement_among(plan, ideals, devices).error().code; };
  plan.stages[0].device = "c";
  EXPECT_EQ(code(), ErrorCode::kNotFound);
  plan.stages[0].device = "a";
  plan.stages[0].operators = {{1, plan.stages[0].end}};
  EXPECT_EQ(code(), ErrorCode::kNotFound) << "nothing is without the first operator";
}

}  // namespace
}  // namespace pareto::planning
