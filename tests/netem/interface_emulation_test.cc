// A condition on an interface that is there already: here one end of a veth pair, in a namespace of
// its own.
#include "netem/interface_emulation.h"

#include <gmock/gmock.h>
#include <net/if.h>
#include <unistd.h>

#include "netem/traffic_control.h"
#include "tests/netem/interface_fixture.h"

namespace pareto::netem {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(InterfaceEmulationTest, WhatLeavesIsHeldToTheRate) {
  inside([&] {
    const plan::Condition condition{at_rate(20), {}};
    {
      const auto applied = apply(condition);
      ASSERT_TRUE(applied) << applied.error().message;
      EXPECT_EQ(queues().root_kind, "tbf");
      EXPECT_FALSE(queues().has_ingress);
      EXPECT_TRUE(applied->check());
      const auto all = list();
      ASSERT_EQ(all.size(), 1U);
      EXPECT_EQ(all[0].interface, kInterface);
      EXPECT_EQ(all[0].name, "test");
      EXPECT_EQ(all[0].state, EmulationState::kHeld);
      EXPECT_EQ(all[0].owner, ::getpid());
      expect_no_more_than(condition);
    }
    expect_as_before();
  });
}

TEST_F(InterfaceEmulationTest, BothWaysThroughAnotherDevice) {
  inside([&] {
    const plan::Condition condition{at_rate(20), at_rate(5)};
    {
      const auto applied = apply(condition);
      if (lacks(applied)) GTEST_SKIP() << applied.error().message;
      ASSERT_TRUE(applied) << applied.error().message;
      EXPECT_TRUE(queues().has_ingress);
      EXPECT_NE(::if_nametoindex(ifb().c_str()), 0U);
      expect_no_more_than(condition);
    }
    expect_as_before();
  });
}

TEST_F(InterfaceEmulationTest, DelaysAndLossesBothWays) {
  inside([&] {
    plan::Condition condition{at_rate(20), at_rate(5)};
    condition.forward.delay = milliseconds(10);
    condition.backward.delay = milliseconds(15);
    condition.forward.loss = condition.backward.loss = 0.05;
    {
      const auto applied = apply(condition);
      if (lacks(applied)) GTEST_SKIP() << applied.error().message;
      ASSERT_TRUE(applied) << applied.error().message;
      EXPECT_EQ(most_segments(kInterface).value(), 1U);
      expect_as_asked(condition);
    }
    expect_as_before();
  });
}

TEST_F(InterfaceEmulationTest, WhatCannotBeDoneLeavesNothingBehind) {
  inside([&] {
    plan::Condition condition{at_rate(20), at_rate(5)};
    condition.backward.delay = milliseconds(10);
    const auto applied = apply(condition);
    if (applied) GTEST_SKIP() << "this kernel has netem";
    EXPECT_EQ(applied.error().code, ErrorCode::kUnavailable);
    expect_as_before();
  });
}

TEST_F(InterfaceEmulationTest, IsTakenBackOnceWhenItIsEnded) {
  inside([&] {
    auto applied = apply({at_rate(20), {}});
    ASSERT_TRUE(applied) << applied.error().message;
    const auto ended = applied->end();
    EXPECT_TRUE(ended) << ended.error().message;
    expect_as_before();
    const auto next = apply({at_rate(10), {}});
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_TRUE(applied->end()) << "it has nothing left to take back";
    EXPECT_EQ(queues().root_kind, "tbf");
  });
}

TEST_F(InterfaceEmulationTest, SomebodyElsesQueueIsLeftAlone) {
  inside([&] {
    ASSERT_TRUE(run_tc({"tc", "qdisc", "add", "dev", kInterface, "root", "handle", "7:", "pfifo"}));
    const auto refused = apply({at_rate(20), {}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(refused.error().message, HasSubstr("pfifo 7:"));
    EXPECT_THAT(refused.error().message, HasSubstr("tc qdisc del dev edge0 root"));
    EXPECT_EQ(queues().root_handle, "7:");
    EXPECT_THAT(list(), IsEmpty());
  });
}

TEST_F(InterfaceEmulationTest, SomebodyElsesIngressIsLeftAlone) {
  inside([&] {
    const auto made = run_tc({"tc", "qdisc", "add", "dev", kInterface, "ingress"});
    if (!made) GTEST_SKIP() << made.error().message;
    const auto refused = apply({{}, at_rate(20)});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
    EXPECT_TRUE(queues().has_ingress);
    // What leaves is another matter.
    EXPECT_TRUE(apply({at_rate(20), {}}));
    EXPECT_TRUE(queues().has_ingress);
  });
}

TEST_F(InterfaceEmulationTest, WhatSomebodyPutThereMeanwhileStays) {
  inside([&] {
    {
      const auto applied = apply({at_rate(20), {}});
      ASSERT_TRUE(applied) << applied.error().message;
      ASSERT_TRUE(run_tc({"tc", "qdisc", "del", "dev", kInterface, "root"}));
      ASSERT_TRUE(
          run_tc({"tc", "qdisc", "add", "dev", kInterface, "root", "handle", "7:", "pfifo"}));
    }
    EXPECT_EQ(queues().root_handle, "7:");
    EXPECT_THAT(list(), IsEmpty());
  });
}

TEST_F(InterfaceEmulationTest, ATraceIsFollowedAndNotKept) {
  inside([&] {
    plan::Condition condition;
    condition.forward.trace = {{milliseconds(30), std::nullopt, 5'000'000}};
    auto applied = apply(condition);
    ASSERT_TRUE(applied) << applied.error().message;
    const auto kept = applied->keep();
    ASSERT_FALSE(kept);
    EXPECT_EQ(kept.error().code, ErrorCode::kInvalidArgument);
    const TimePoint patience = std::chrono::steady_clock::now() + seconds(20);
    while (queues().root_kind != "tbf") {
      ASSERT_LT(std::chrono::steady_clock::now(), patience) << "the rate never came";
    }
    EXPECT_TRUE(applied->check());
  });
}

TEST_F(InterfaceEmulationTest, AnInterfaceMustBeThere) {
  inside([&] {
    const auto refused = [&](const std::string& name) {
      const auto applied = InterfaceEmulation::apply(name, {}, "test", folder());
      EXPECT_FALSE(applied) << name;
      return applied ? ErrorCode::kInternal : applied.error().code;
    };
    EXPECT_EQ(refused("edge1"), ErrorCode::kNotFound);
    for (const char* name : {"", "-all", "..", "a/b", "edge0 root", "longer-than-a-name"}) {
      EXPECT_EQ(refused(name), ErrorCode::kInvalidArgument) << name;
    }
  });
}

}  // namespace
}  // namespace pareto::netem
