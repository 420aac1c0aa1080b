#include "client/planning/ideal_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/client/support/small_model.h"

namespace pareto::client {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(ChooseCuts, AnywhereUnlessThereAreTooManyPlacesForThat) {
  const partitioner::Model model = small_model();
  const auto anywhere = choose_cuts(model, 1, Cuts::kAuto);
  ASSERT_TRUE(anywhere) << anywhere.error().message;
  ASSERT_TRUE(anywhere->ideals);
  EXPECT_THAT(anywhere->why_in_order, IsEmpty());
  const auto in_order = choose_cuts(model, 1, Cuts::kAuto, 10);
  ASSERT_TRUE(in_order) << in_order.error().message;
  EXPECT_FALSE(in_order->ideals);
  EXPECT_THAT(in_order->why_in_order, HasSubstr("more than 10 ideals"));
}

TEST(ChooseCuts, AsTheyWereAskedFor) {
  const partitioner::Model model = small_model();
  const auto order = choose_cuts(model, 1, Cuts::kOrder, 10);
  ASSERT_TRUE(order);
  EXPECT_FALSE(order->ideals);
  EXPECT_THAT(order->why_in_order, IsEmpty()) << "nobody asked for more";
  const auto refused = choose_cuts(model, 1, Cuts::kIdeals, 10);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(refused.error().message, HasSubstr("squeezenet1_0"));
}

TEST(PlacementAmong, IsThatWhichAPlanWasMadeOf) {
  const partitioner::Model model = small_model();
  const partitioner::GraphIdeals ideals = choose_cuts(model, 1, Cuts::kIdeals)->ideals.value();
  std::vector<DeviceFacts> devices(2);
  devices[0].profile.device = "a";
  devices[1].profile.device = "b";
  const int last = static_cast<int>(ideals.operators.size()) - 1;
  int with_own_order = 0;
  for (int cut = 1; cut < last; ++cut) {
    const partitioner::Placement placement{{{1, 0, cut}, {0, cut, last}}};
    Plan plan;
    place_ideals(model, ideals, devices, placement, plan);
    with_own_order += plan.has_own_order() ? 1 : 0;
    const auto found = placement_among(plan, ideals, devices);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->stages, placement.stages);
  }
  EXPECT_GT(with_own_order, 0);

  Plan plan;
  place_ideals(model, ideals, devices, {{{0, 0, last}, {1, 0, last}}, {}, true}, plan);
  EXPECT_TRUE(plan.replicated);
  const auto replicas = placement_among(plan, ideals, devices).value();
  EXPECT_TRUE(replicas.replicated);
  EXPECT_EQ(replicas.stages, (std::vector<partitioner::PlacedStage>{{0, 0, last}, {1, 0, last}}));

  place_ideals(model, ideals, devices, {{{0, 0, last}}}, plan);
  const auto code = [&] { return placement_among(plan, ideals, devices).error().code; };
  plan.stages[0].device = "c";
  EXPECT_EQ(code(), ErrorCode::kNotFound);
  plan.stages[0].device = "a";
  plan.stages[0].operators = {{1, plan.stages[0].end}};
  EXPECT_EQ(code(), ErrorCode::kNotFound) << "nothing is without the first operator";
}

}  // namespace
}  // namespace pareto::client
