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

}  // namespace
}  // namespace pareto::client
