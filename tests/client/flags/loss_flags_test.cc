#include "client/flags/loss_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pareto::client {
namespace {

using testing::HasSubstr;

TEST(LossFlags, WaitUnlessTheDaemonsAreThisCommands) {
  const LossPolicy others = LossFlags{}.read(/*own_daemons=*/false).value();
  EXPECT_EQ(others.on_loss, OnLoss::kWait);
  EXPECT_EQ(others.retry, std::chrono::seconds(60));
  const LossPolicy own = LossFlags{}.read(/*own_daemons=*/true).value();
  EXPECT_EQ(own.on_loss, OnLoss::kFail);
  EXPECT_EQ(own.retry, Nanoseconds(0));
}

TEST(LossFlags, SayTheSameInTwoWays) {
  EXPECT_EQ((LossFlags{"fail", {}}).read(false)->retry, Nanoseconds(0));
  EXPECT_EQ((LossFlags{{}, "none"}).read(false)->on_loss, OnLoss::kFail);
  EXPECT_EQ((LossFlags{"fail", "none"}).read(false)->on_loss, OnLoss::kFail);
  const LossPolicy failover = (LossFlags{"failover", "10m"}).read(true).value();
  EXPECT_EQ(failover.on_loss, OnLoss::kFailover);
  EXPECT_EQ(failover.retry, std::chrono::minutes(10));
  EXPECT_EQ((LossFlags{{}, "5s"}).read(true)->on_loss, OnLoss::kWait);
}

TEST(LossFlags, RefuseWhatContradicts) {
  for (const auto& [on_loss, retry] :
       {std::pair{"fail", "5s"}, {"wait", "none"}, {"failover", "none"}}) {
    const auto read = LossFlags{on_loss, retry}.read(false);
    ASSERT_FALSE(read) << on_loss;
    EXPECT_THAT(read.error().message, HasSubstr("--retry"));
  }
  EXPECT_THAT((LossFlags{"pray", {}}).read(false).error().message,
              HasSubstr("fail, wait or failover"));
  EXPECT_FALSE((LossFlags{"wait", "soon"}).read(false));
}

}  // namespace
}  // namespace pareto::client
