// When a better plan is worth a change.
#include "coordinator/failover/switch_rule.h"

#include <gtest/gtest.h>

namespace pareto::failover {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const TimePoint kBegin{seconds(100)};

TEST(SwitchRule, ABetterPlanHasToStayBetter) {
  SwitchRule rule;
  EXPECT_FALSE(rule.consider(0.5, 0, kBegin));
  EXPECT_EQ(rule.better_since(), kBegin);
  EXPECT_FALSE(rule.consider(0.5, 0, kBegin + milliseconds(900)));
  // For a moment it was not.
  EXPECT_FALSE(rule.consider(0.05, 0, kBegin + milliseconds(950)));
  EXPECT_FALSE(rule.better_since());
  EXPECT_FALSE(rule.consider(0.5, 0, kBegin + seconds(1)));
  EXPECT_TRUE(rule.consider(0.5, 0, kBegin + seconds(2)));
}

TEST(SwitchRule, ASmallGainOrOneWithinTheSpreadIsNone) {
  SwitchRule rule;
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(rule.consider(0.09, 0, kBegin + seconds(i)));
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(rule.consider(0.3, 0.4, kBegin + seconds(i)));
}

TEST(SwitchRule, ChangesKeepADistanceByTheirCost) {
  SwitchRule rule;
  rule.made(milliseconds(100), kBegin);
  EXPECT_FALSE(rule.consider(0.5, 0, kBegin + seconds(1)));
  EXPECT_FALSE(rule.consider(0.5, 0, kBegin + milliseconds(4900)));
  EXPECT_TRUE(rule.consider(0.5, 0, kBegin + seconds(5)));
  rule.made(seconds(2), kBegin);
  EXPECT_FALSE(rule.consider(0.1, 0, kBegin + seconds(6)));
  EXPECT_FALSE(rule.consider(0.1, 0, kBegin + seconds(19)));
  EXPECT_TRUE(rule.consider(0.1, 0, kBegin + seconds(20)));
}

TEST(SwitchRule, AMuchBetterPlanMakesGoodForAChangeSooner) {
  SwitchRule rule;
  rule.made(seconds(4), kBegin);
  EXPECT_FALSE(rule.consider(0.5, 0, kBegin + seconds(1)));
  EXPECT_FALSE(rule.consider(0.5, 0, kBegin + milliseconds(7900)));
  EXPECT_TRUE(rule.consider(0.5, 0, kBegin + seconds(8)));
  // Never before what follows a change has been seen.
  EXPECT_FALSE(rule.consider(5, 0, kBegin + milliseconds(4900)));
  EXPECT_TRUE(rule.consider(5, 0, kBegin + milliseconds(5000)));
}

TEST(SwitchRule, WhatIsRefusedIsAskedForLessAndLessOften) {
  SwitchRule rule;
  TimePoint now = kBegin;
  for (const int pause : {5, 10, 20, 40, 60, 60}) {
    rule.refused(now);
    EXPECT_FALSE(rule.consider(0.5, 0, now + seconds(1)));
    EXPECT_FALSE(rule.consider(0.5, 0, now + seconds(pause) - milliseconds(1)));
    EXPECT_TRUE(rule.consider(0.5, 0, now + seconds(pause))) << pause;
    now += seconds(pause);
  }
}

}  // namespace
}  // namespace pareto::failover
