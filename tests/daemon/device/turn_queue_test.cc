// Who gets a turn, in simulated time.
#include "daemon/device/turn_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace pareto::daemon {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr TimePoint kBegin{std::chrono::hours(1)};

TimePoint at(int ms) { return kBegin + milliseconds(ms); }

/// A device whose time a test tells.
class Device {
 public:
  explicit Device(std::string_view policy, int cores = 1, double busy = 1)
      : queue_(make_turn_policy(policy).value(), cores, BusyBudget({busy, cores}, kBegin)) {}

  /// Somebody of that pipeline asks for a turn.
  WaitingTurn& ask(const std::string& pipeline, WaitingTurn turn = {}) {
    turn.account = &accounts_[pipeline];
    turns_.push_back(std::make_unique<WaitingTurn>(turn));
    names_[turns_.back().get()] = pipeline;
    queue_.ask(*turns_.back());
    return *turns_.back();
  }
  /// Gives all the turns that it can. Returns whose they are.
  std::vector<std::string> give(TimePoint now) {
    std::vector<std::string> given;
    HeldTurn* held = nullptr;
    while (const WaitingTurn* const turn = queue_.next(now, held)) {
      given.push_back(names_.at(turn));
      held_[given.back()] = held;
    }
    return given;
  }
  /// Gives back the pipeline's last turn, and gives those that can be given then.
  std::vector<std::string> give_back(const std::string& pipeline, TimePoint now) {
    queue_.give_back(*held_.at(pipeline), now);
    return give(now);
  }
  /// Returns whether the pipeline's turn is to be paused.
  bool is_wanted(const std::string& pipeline) const { return held_.at(pipeline)->wanted; }
  /// Pauses the pipeline's turn, and gives those that can be given then.
  std::vector<std::string> pause(const std::string& pipeline, TimePoint now) {
    turns_.push_back(std::make_unique<WaitingTurn>(held_.at(pipeline)->turn));
    names_[turns_.back().get()] = pipeline;
    queue_.pause(*held_.at(pipeline), *turns_.back(), now);
    return give(now);
  }
  void let_go(const std::string& pipeline, TimePoint now) {
    queue_.let_go(*held_.at(pipeline), now);
  }
  /// Two greedy pipelines ask again as soon as they have computed for 10 ms. Returns how many of
  /// `turns` turns the first one got.
  int turns_of_first(int turns) {
    ask("one");
    ask("two");
    int first = 0;
    std::vector<std::string> now = give(at(0));
    for (int i = 1; i <= turns; ++i) {
      const std::string computed = now.at(0);
      first += computed == "one" ? 1 : 0;
      ask(computed);
      now = give_back(computed, at(10 * i));
    }
    return first;
  }
  TurnAccount& account(const std::string& pipeline) { return accounts_[pipeline]; }
  TurnQueue& queue() { return queue_; }

 private:
  std::map<std::string, TurnAccount> accounts_;
  std::vector<std::unique_ptr<WaitingTurn>> turns_;
  std::map<const WaitingTurn*, std::string> names_;
  std::map<std::string, HeldTurn*> held_;
  TurnQueue queue_;
};

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

TEST(TurnQueue, FairPausesAGreedyPipelineForALightOne) {
  Device device("fair");
  device.ask("greedy", {.can_pause = true});
  EXPECT_THAT(device.give(at(0)), ElementsAre("greedy"));
  device.ask("light");
  EXPECT_THAT(device.give(at(30)), ElementsAre());
  EXPECT_TRUE(device.is_wanted("greedy"));
  EXPECT_THAT(device.pause("greedy", at(31)), ElementsAre("light"));
  EXPECT_EQ(device.account("greedy").turns, 1) << "it waits again";
  EXPECT_THAT(device.give_back("light", at(36)), ElementsAre("greedy"));
  EXPECT_FALSE(device.is_wanted("greedy"));
}

TEST(TurnQueue, FairPausesNobodyForLongerTurns) {
  Device device("fair");
  device.ask("greedy");
  EXPECT_THAT(device.give(at(0)), ElementsAre("greedy"));
  EXPECT_THAT(device.give_back("greedy", at(50)), ElementsAre());
  device.ask("light", {.can_pause = true});
  EXPECT_THAT(device.give(at(50)), ElementsAre("light"));
  device.ask("greedy");
  EXPECT_THAT(device.give(at(55)), ElementsAre());
  EXPECT_FALSE(device.is_wanted("light"));
  EXPECT_THAT(device.give_back("light", at(60)), ElementsAre("greedy"));
}

TEST(TurnQueue, FairPausesNobodyForAPipelineThatTookMoreThanItsShare) {
  Device device("fair");
  device.ask("long", {.can_pause = true});
  EXPECT_THAT(device.give(at(0)), ElementsAre("long"));
  // Turns of 10 ms, as many as it can get, next to one of 100 ms.
  int now = 5;
  int given = 0;
  for (device.ask("short"); now < 100; ++now) {
    device.give(at(now));
    if (!device.is_wanted("long")) continue;
    ++given;
    EXPECT_THAT(device.pause("long", at(now)), ElementsAre("short"));
    now += 10;
    device.ask("short");
    EXPECT_THAT(device.give_back("short", at(now)), ElementsAre("long"));
  }
  EXPECT_GE(given, 4);
  EXPECT_LE(given, 6) << "each had half of the time";
}

TEST(TurnQueue, FairLetsTwoGreedyPipelinesFinishTheirTurns) {
  Device device("fair");
  device.ask("one", {.can_pause = true});
  device.ask("two", {.can_pause = true});
  std::vector<std::string> now = device.give(at(0));
  for (int i = 1; i <= 50; ++i) {
    ASSERT_EQ(now.size(), 1U);
    const std::string computed = now.front();
    EXPECT_THAT(device.give(at(20 * i - 1)), ElementsAre());
    // The first turn says nothing of who takes how much.
    if (i > 1) {
      EXPECT_FALSE(device.is_wanted(computed)) << i;
    }
    device.ask(computed, {.can_pause = true});
    now = device.give_back(computed, at(20 * i));
  }
}

TEST(TurnQueue, DeadlinePausesWhatIsLessUrgent) {
  Device device("deadline");
  device.ask("batch", {.arrived = at(0), .can_pause = true});
  EXPECT_THAT(device.give(at(0)), ElementsAre("batch"));
  device.ask("batch 2", {.arrived = at(1)});
  EXPECT_THAT(device.give(at(1)), ElementsAre());
  EXPECT_FALSE(device.is_wanted("batch")) << "it is as urgent";
  device.ask("urgent", {.deadline = at(50), .arrived = at(5)});
  EXPECT_THAT(device.give(at(5)), ElementsAre());
  EXPECT_TRUE(device.is_wanted("batch"));
  EXPECT_THAT(device.pause("batch", at(6)), ElementsAre("urgent"));
  EXPECT_THAT(device.give_back("urgent", at(9)), ElementsAre("batch")) << "it came first";
}

TEST(TurnQueue, FifoPausesNobody) {
  Device device("fifo");
  device.ask("a", {.arrived = at(0), .can_pause = true});
  EXPECT_THAT(device.give(at(0)), ElementsAre("a"));
  device.ask("b", {.priority = 9, .deadline = at(9), .arrived = at(1)});
  EXPECT_THAT(device.give(at(1)), ElementsAre());
  EXPECT_FALSE(device.is_wanted("a"));
}

TEST(TurnQueue, NobodyIsPausedForCoresThatAreNotEnough) {
  Device device("deadline", 2);
  device.ask("batch", {.arrived = at(0), .can_pause = true});
  device.ask("stubborn", {.arrived = at(0)});
  EXPECT_EQ(device.give(at(0)).size(), 2U);
  device.ask("urgent", {.cores = 2, .deadline = at(50), .arrived = at(1)});
  EXPECT_THAT(device.give(at(1)), ElementsAre());
  EXPECT_FALSE(device.is_wanted("batch"));
  EXPECT_THAT(device.give_back("stubborn", at(2)), ElementsAre());
  EXPECT_TRUE(device.is_wanted("batch")) << "now they are";
  EXPECT_THAT(device.pause("batch", at(3)), ElementsAre("urgent"));
}

TEST(TurnQueue, WhoIsPausedKeepsWhatItUsesAlone) {
  Device device("deadline");
  const int shard = 0;
  device.ask("batch", {.arrived = at(0), .alone = &shard, .can_pause = true});
  EXPECT_THAT(device.give(at(0)), ElementsAre("batch"));
  device.ask("same shard", {.deadline = at(40), .arrived = at(1), .alone = &shard});
  EXPECT_THAT(device.give(at(1)), ElementsAre());
  EXPECT_FALSE(device.is_wanted("batch")) << "its shard is in use";
  device.ask("urgent", {.deadline = at(50), .arrived = at(2)});
  EXPECT_THAT(device.give(at(2)), ElementsAre());
  EXPECT_THAT(device.pause("batch", at(3)), ElementsAre("urgent"));
  EXPECT_THAT(device.give_back("urgent", at(4)), ElementsAre("batch"));
  EXPECT_THAT(device.give_back("batch", at(5)), ElementsAre("same shard"));
}

TEST(TurnQueue, WhoLeavesWhileItIsPausedUsesNothingAlone) {
  Device device("deadline");
  const int shard = 0;
  device.ask("batch", {.arrived = at(0), .alone = &shard, .can_pause = true});
  EXPECT_THAT(device.give(at(0)), ElementsAre("batch"));
  device.ask("urgent", {.deadline = at(50), .arrived = at(2)});
  EXPECT_THAT(device.pause("batch", at(3)), ElementsAre("urgent"));
  device.queue().leave(*device.queue().waiting().front());
  EXPECT_EQ(device.account("batch").turns, 0);
  device.ask("same shard", {.arrived = at(4), .alone = &shard});
  EXPECT_THAT(device.give_back("urgent", at(5)), ElementsAre("same shard"));
}

TEST(TurnQueue, CoresThatWereLetGoServeOthers) {
  Device device("fair", 2);
  const int shard = 0;
  device.ask("stuck", {.cores = 2, .arrived = at(0), .alone = &shard});
  EXPECT_THAT(device.give(at(0)), ElementsAre("stuck"));
  device.ask("wide", {.cores = 2, .arrived = at(1)});
  device.ask("same shard", {.arrived = at(2), .alone = &shard});
  EXPECT_THAT(device.give(at(2)), ElementsAre());
  device.let_go("stuck", at(1000));
  EXPECT_THAT(device.give(at(1000)), ElementsAre("wide"));
  EXPECT_THAT(device.give_back("wide", at(1001)), ElementsAre()) << "the shard computes still";
  EXPECT_THAT(device.give_back("stuck", at(2000)), ElementsAre("same shard"));
  EXPECT_NEAR(device.queue().used(at(2000)), 2.002, 1e-6);
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
}  // namespace pareto::daemon
