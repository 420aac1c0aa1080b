#include "coordinator/cluster/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pareto::cluster {
namespace {

using testing::HasSubstr;

TEST(NoNetwork, IsAtRestAndCannotBeChanged) {
  EXPECT_TRUE(put_to_rest(nullptr));
  const auto rest = apply_condition(nullptr, Network::kNone);
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_FALSE(rest->has_value()) << "nothing was measured";
  const auto refused = apply_condition(nullptr, "lte");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(refused.error().message, HasSubstr("network lte"));
}

}  // namespace
}  // namespace pareto::cluster
