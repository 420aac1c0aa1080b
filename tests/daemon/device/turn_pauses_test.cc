// Who is paused for whom, in simulated time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/daemon/device/simulated_device.h"

namespace pareto::daemon::device {
namespace {

using testing::ElementsAre;

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

}  // namespace
}  // namespace pareto::daemon::device
