// Who gets a turn, in simulated time.
#include "daemon/device/turn_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/daemon/device/simulated_device.h"

namespace pareto::daemon::device {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(TurnPolicies, AreNamedAndMade) {
  EXPECT_THAT(turn_policy_names(), ElementsAre("fair", "fifo", "deadline"));
  for (const TurnPolicyEntry& entry : builtin_turn_policies()) {
    EXPECT_NE(make_turn_policy(entry.name).value(), nullptr) << entry.name;
    EXPECT_FALSE(entry.summary.empty());
  }
  const auto unknown = make_turn_policy("fare");
  EXPECT_EQ(unknown.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(unknown.error().message, HasSubstr("did you mean fair"));
}

/// Rules that every policy keeps.
class EveryPolicy : public testing::TestWithParam<std::string> {};

TEST_P(EveryPolicy, NoMoreCoresAreHeldThanThereAre) {
  Device device(GetParam(), 2);
  for (const char* name : {"a", "b", "c"}) device.ask(name);
  EXPECT_EQ(device.give(at(0)).size(), 2U);
  EXPECT_THAT(device.give_back("a", at(1)), ElementsAre("c"));
}

TEST_P(EveryPolicy, AStageWiderThanTheDeviceRuns) {
  Device device(GetParam(), 2);
  EXPECT_EQ(device.ask("wide", {.cores = 8}).cores, 2);
  EXPECT_THAT(device.give(at(0)), ElementsAre("wide"));
}

TEST_P(EveryPolicy, NobodyOvertakesAWideTurnThatIsNext) {
  Device device(GetParam(), 2);
  device.ask("a", {.arrived = at(0)});
  EXPECT_THAT(device.give(at(0)), ElementsAre("a"));
  device.ask("wide", {.cores = 2, .arrived = at(1)});
  device.ask("b", {.arrived = at(2)});
  EXPECT_THAT(device.give(at(2)), ElementsAre()) << "one core is free, and kept for the wide one";
  EXPECT_THAT(device.give_back("a", at(3)), ElementsAre("wide"));
  EXPECT_THAT(device.give_back("wide", at(4)), ElementsAre("b"));
}

TEST_P(EveryPolicy, WhatIsUsedAloneIsGivenToOneAtATime) {
  Device device(GetParam(), 4);
  const int shard = 0;
  device.ask("a", {.arrived = at(0), .alone = &shard});
  device.ask("b", {.arrived = at(1), .alone = &shard});
  device.ask("c", {.arrived = at(2)});
  EXPECT_THAT(device.give(at(2)), ElementsAre("a", "c")) << "b does not keep c waiting";
  EXPECT_THAT(device.give_back("a", at(3)), ElementsAre("b"));
}

TEST_P(EveryPolicy, WhoLeavesIsNotServed) {
  Device device(GetParam());
  device.ask("a", {.arrived = at(0)});
  EXPECT_THAT(device.give(at(0)), ElementsAre("a"));
  const WaitingTurn& left = device.ask("b", {.arrived = at(1)});
  device.ask("c", {.arrived = at(2)});
  device.queue().leave(left);
  EXPECT_THAT(device.give_back("a", at(3)), ElementsAre("c"));
  EXPECT_EQ(device.account("b").turns, 0);
}

TEST_P(EveryPolicy, EveryTurnComesInTheEnd) {
  Device device(GetParam(), 3);
  std::vector<std::string> running;
  const auto add = [&](const std::vector<std::string>& given) {
    running.insert(running.end(), given.begin(), given.end());
  };
  int served = 0;
  for (int i = 0; i < 60; ++i) {
    const int cores = 1 + i % 4;
    WaitingTurn turn{.cores = cores, .priority = i % 5, .arrived = at(i)};
    if (i % 3 == 0) turn.deadline = at(1000 - i);
    device.ask("p" + std::to_string(i), turn);
    add(device.give(at(i)));
    if (i % 2 == 0) continue;
    ++served;
    const std::string first = running.front();
    running.erase(running.begin());
    add(device.give_back(first, at(i)));
  }
  for (; !running.empty(); ++served) {
    const std::string first = running.front();
    running.erase(running.begin());
    add(device.give_back(first, at(60 + served)));
  }
  EXPECT_EQ(served, 60);
  EXPECT_TRUE(device.queue().waiting().empty());
}

INSTANTIATE_TEST_SUITE_P(TurnQueue, EveryPolicy, testing::ValuesIn(turn_policy_names()),
                         [](const auto& policy) { return policy.param; });

TEST(TurnQueue, FifoServesInTheOrderOfArrival) {
  Device device("fifo");
  device.ask("busy", {.arrived = at(0)});
  EXPECT_THAT(device.give(at(0)), ElementsAre("busy"));
  device.ask("late", {.priority = 9, .arrived = at(2)});
  device.ask("early", {.deadline = at(900), .arrived = at(1)});
  EXPECT_THAT(device.give_back("busy", at(3)), ElementsAre("early"));
  EXPECT_THAT(device.give_back("early", at(4)), ElementsAre("late"));
}

TEST(TurnQueue, DeadlineServesTheEarliestAndThenByPriority) {
  Device device("deadline");
  device.ask("busy", {.arrived = at(0)});
  EXPECT_THAT(device.give(at(0)), ElementsAre("busy"));
  device.ask("any", {.arrived = at(1)});
  device.ask("urgent", {.priority = 2, .arrived = at(2)});
  device.ask("later", {.deadline = at(90), .arrived = at(3)});
  device.ask("sooner", {.deadline = at(50), .arrived = at(4)});
  device.ask("sooner, urgent", {.priority = 1, .deadline = at(50), .arrived = at(5)});
  std::string last = "busy";
  std::vector<std::string> order;
  for (int i = 0; i < 5; ++i) {
    order.push_back(device.give_back(last, at(10 + i)).at(0));
    last = order.back();
  }
  EXPECT_THAT(order, ElementsAre("sooner, urgent", "sooner", "later", "urgent", "any"));
}

TEST(TurnQueue, FairSharesByWeight) {
  Device equal("fair");
  EXPECT_EQ(equal.turns_of_first(100), 50);
  Device weighted("fair");
  weighted.account("one").weight = 3;
  EXPECT_NEAR(weighted.turns_of_first(100), 75, 1);
}

TEST(TurnQueue, FairCountsCoresAndTime) {
  Device device("fair", 2);
  device.ask("long", {.cores = 2, .arrived = at(0)});
  EXPECT_THAT(device.give(at(0)), ElementsAre("long"));
  device.ask("short", {.cores = 2, .arrived = at(1)});
  EXPECT_THAT(device.give_back("long", at(50)), ElementsAre("short"));
  EXPECT_DOUBLE_EQ(device.account("long").virtual_time, 0.1);
  // A request of 50 ms outweighs several of 10 ms, whichever came first.
  for (int i = 0; i < 5; ++i) {
    device.ask("long", {.cores = 2, .arrived = at(51)});
    device.ask("short", {.cores = 2, .arrived = at(60)});
    const auto given = device.give_back("short", at(60 + 10 * i));
    if (i < 4) {
      EXPECT_THAT(given, ElementsAre("short")) << i;
    }
  }
}

TEST(TurnQueue, FairSavesUpNoCreditForWhoIsIdle) {
  Device device("fair");
  EXPECT_EQ(device.turns_of_first(100), 50);
  // Both have taken half a second. A third one comes that took nothing so far.
  device.ask("new");
  EXPECT_GE(device.account("new").virtual_time, 0.4);
}

TEST(TurnQueue, FairKeepsAGreedyPipelineFromHoldingUpAnother) {
  Device device("fair");
  device.ask("greedy", {.arrived = at(0)});
  EXPECT_THAT(device.give(at(0)), ElementsAre("greedy"));
  // Its requests came long ago and wait; the other's has only just come.
  for (int i = 1; i <= 20; ++i) device.ask("greedy", {.arrived = at(0)});
  for (int round = 1; round <= 5; ++round) {
    device.ask("other", {.arrived = at(20 * round)});
    EXPECT_THAT(device.give_back("greedy", at(20 * round)), ElementsAre("other"));
    EXPECT_THAT(device.give_back("other", at(20 * round + 1)), ElementsAre("greedy"));
  }
}

TEST(TurnQueue, NobodyGetsATurnWhileTheBudgetIsUsedUp) {
  Device device("fifo", 2, 0.25);
  device.ask("a", {.cores = 2});
  EXPECT_THAT(device.give(at(0)), ElementsAre("a"));
  device.ask("b");
  EXPECT_FALSE(device.queue().look_again()) << "it is in use";
  // A tenth of a second of cores was kept, and 1 s of 2 cores was used, in which 0.5 came in.
  EXPECT_THAT(device.give_back("a", at(1000)), ElementsAre());
  const auto again = device.queue().look_again();
  ASSERT_TRUE(again);
  EXPECT_GE(*again, at(3800));
  EXPECT_LE(*again, at(3801));
  EXPECT_THAT(device.give(at(3799)), ElementsAre());
  EXPECT_THAT(device.give(*again), ElementsAre("b"));
  EXPECT_NEAR(device.queue().used(*again), 2, 1e-6);
}

TEST(TurnQueue, OverAMinuteTheShareIsTheLimit) {
  for (const int cores : {1, 2, 4}) {
    for (const int computing : {1, 7, 130, 900}) {  // ms of a request
      Device device("fair", cores, 0.3);
      TimePoint now = kBegin;
      const TimePoint end = at(60'000);
      while (now < end) {
        device.ask("greedy", {.cores = cores});
        while (device.give(now).empty()) now = *device.queue().look_again();
        now += milliseconds(computing);
        device.queue().used(now);
        device.give_back("greedy", now);
      }
      const double share = device.queue().used(now) / (to_seconds(now - kBegin) * cores);
      EXPECT_NEAR(share, 0.3, 0.02) << cores << " cores, " << computing << " ms";
    }
  }
}

TEST(TurnQueue, AnotherShareHoldsAtOnce) {
  Device device("fifo", 1, 0.1);
  device.ask("a");
  EXPECT_THAT(device.give(at(0)), ElementsAre("a"));
  EXPECT_THAT(device.give_back("a", at(1000)), ElementsAre());
  device.ask("b");
  EXPECT_THAT(device.give(at(1001)), ElementsAre());
  device.queue().set_busy(1, at(1002));
  EXPECT_THAT(device.give(at(1002)), ElementsAre("b"));
}

}  // namespace
}  // namespace pareto::daemon::device
