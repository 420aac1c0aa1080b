#include "partitioner/planning/inputs/cut_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/coordinator/support/small_model.h"

namespace pareto::planning {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(ChooseCuts, AnywhereUnlessThereAreTooManyPlacesForThat) {
  const model::Model model = test::small_model();
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
  const model::Model model = test::small_model();
  const auto order = choose_cuts(model, 1, Cuts::kOrder, 10);
  ASSERT_TRUE(order);
  EXPECT_FALSE(order->ideals);
  EXPECT_THAT(order->why_in_order, IsEmpty()) << "nobody asked for more";
  const auto refused = choose_cuts(model, 1, Cuts::kIdeals, 10);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(refused.error().message, HasSubstr("squeezenet1_0"));
}

std::vector<DeviceFacts> devices_without_profiles() {
  std::vector<DeviceFacts> devices(2);
  devices[0].profile.device = "a";
  devices[1].profile.device = "b";
  return devices;
}

/// Returns one link with one way, between each two.
CostInputs linked(int positions) {
  CostInputs inputs;
  inputs.devices.resize(2);
  inputs.boundary_bytes.assign(static_cast<std::size_t>(positions) + 1, 8);
  LinkCosts link;
  link.codecs.push_back({});
  link.codecs.back().name = "none";
  link.codecs.back().transport = "tcp";
  inputs.links.assign(3, std::vector<LinkCosts>(3, link));
  return inputs;
}

TEST(CutSpace, APlanThatItMadeIsThePlacementThatItWasMadeOf) {
  const model::Model model = test::small_model();
  plan::Plan blank;
  blank.model = "squeezenet1_0";
  blank.batch = 3;
  blank.settings.engine = "plain";
  const auto splits = model::select_split_points(model.split_points(), "modules").value();
  for (const Cuts cuts : {Cuts::kOrder, Cuts::kIdeals}) {
    const CutChoice choice = choose_cuts(model, 1, cuts).value();
    const auto space = make_cut_space(model, choice, splits, devices_without_profiles(), blank);
    EXPECT_EQ(space->anywhere(), cuts == Cuts::kIdeals);
    const int last = choice.ideals ? static_cast<int>(choice.ideals->operators.size()) - 1
                                   : static_cast<int>(splits.size()) + 1;
    const CostInputs inputs = linked(last);
    for (int cut = 1; cut < last; ++cut) {
      const Placement placement{{{1, 0, cut}, {0, cut, last}}};
      const plan::Plan plan = space->plan_of(placement, inputs, 5);
      EXPECT_EQ(plan.batch, 3);
      EXPECT_EQ(plan.settings.engine, "plain");
      EXPECT_EQ(plan.window, 5);
      EXPECT_EQ(plan.stages[0].device, "b");
      const auto found = space->placement_of(plan);
      ASSERT_TRUE(found) << found.error().message;
      EXPECT_EQ(found->stages, placement.stages);
    }
    plan::Plan elsewhere = space->plan_of({{{1, 0, 1}, {0, 1, last}}}, inputs);
    elsewhere.stages[0].device = "c";
    EXPECT_EQ(space->placement_of(elsewhere).error().code, ErrorCode::kNotFound);
  }
}

}  // namespace
}  // namespace pareto::planning
