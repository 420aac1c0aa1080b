// A condition on an interface that is there already: here one end of a veth pair, in a namespace of
// its own.
#include "netem/interface_emulation.h"

#include <gmock/gmock.h>
#include <net/if.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "core/base/file.h"
#include "netem/emulation_record.h"
#include "netem/link_measurement.h"
#include "netem/traffic_control.h"

namespace pareto::netem {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kInterface = "edge0";

plan::LinkDirection at_rate(double megabits) {
  plan::LinkDirection direction;
  direction.bits_per_second = static_cast<std::uint64_t>(megabits * 1e6);
  return direction;
}

/// Two joined devices. All work is done on threads inside the first one's namespace.
class InterfaceEmulationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto first = NetworkNamespace::create();
    auto second = NetworkNamespace::create();
    auto folder = TemporaryFolder::create("pareto-netem");
    if (!first || !second) {
      GTEST_SKIP() << "no namespaces here: " << (first ? second : first).error().message;
    }
    ASSERT_TRUE(folder) << folder.error().message;
    first_.emplace(*std::move(first));
    second_.emplace(*std::move(second));
    folder_.emplace(*std::move(folder));
    const auto joined = first_->run([&] {
      return run_tc({"ip", "link", "add", kInterface, "type", "veth", "peer", "name", kInterface,
                     "netns", second_->path()});
    });
    if (!joined) GTEST_SKIP() << joined.error().message;
    bring_up(*first_, "10.214.0.1/24");
    bring_up(*second_, "10.214.0.2/24");
    inside([&] { before_ = queues(); });
  }

  static void bring_up(const NetworkNamespace& where, const char* address) {
    const auto up = where.run([&]() -> Expected<> {
      PARETO_TRY(run_tc({"ip", "address", "add", address, "dev", kInterface}));
      return run_tc({"ip", "link", "set", kInterface, "addrgenmode", "none", "up"});
    });
    ASSERT_TRUE(up) << up.error().message;
  }

  /// Runs `work` inside. What fails a test inside fails it.
  void inside(const std::function<void()>& work) const {
    const auto ran = first_->run([&]() -> Expected<> {
      work();
      return {};
    });
    ASSERT_TRUE(ran) << ran.error().message;
  }

  Expected<InterfaceEmulation> apply(const plan::Condition& condition) const {
    return InterfaceEmulation::apply(kInterface, condition, "test", folder());
  }
  /// Skips what needs a part of the kernel that is not there.
  static bool lacks(const Expected<InterfaceEmulation>& applied) {
    return !applied && applied.error().code == ErrorCode::kUnavailable &&
           applied.error().message.find("this kernel") != std::string::npos;
  }

  static DeviceQueues queues() {
    const auto found = queues_of(kInterface);
    EXPECT_TRUE(found) << found.error().message;
    return found.value_or(DeviceQueues{});
  }
  std::vector<InterfaceStatus> list() const {
    const auto all = list_emulations(folder());
    EXPECT_TRUE(all) << all.error().message;
    return all.value_or(std::vector<InterfaceStatus>{});
  }
  void expect_as_before() const {
    const DeviceQueues now = queues();
    EXPECT_EQ(now.root_kind, before_.root_kind);
    EXPECT_EQ(now.root_handle, before_.root_handle);
    EXPECT_FALSE(now.has_ingress);
    EXPECT_EQ(::if_nametoindex(ifb().c_str()), 0U);
    EXPECT_EQ(most_segments(kInterface).value(), kManySegments);
    EXPECT_THAT(list(), IsEmpty());
  }

  /// A process that applies it and is killed at once. False: it could not.
  bool apply_and_die(const plan::Condition& condition) const {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto applied = apply(condition);
      if (applied) ::raise(SIGKILL);
      ::_exit(1);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }

  LinkMeasurement measured(const plan::Condition& condition) const {
    const auto found =
        measure_link({*first_, "10.214.0.1"}, {*second_, "10.214.0.2"}, measurement_for(condition));
    EXPECT_TRUE(found) << found.error().message;
    return found.value_or(LinkMeasurement{});
  }
  /// Expects the condition if it can be told: on a kernel with netem, which `./dev test-netem`
  /// brings with a clock of its own.
  void expect_as_asked(const plan::Condition& condition) const {
    constexpr int kTries = 3;
    Expected<> judged;
    for (int i = 0; i < kTries; ++i) {
      judged = check_measurement(condition, measured(condition));
      if (judged) return;
    }
    ADD_FAILURE() << judged.error().message;
  }
  /// A busy machine lets less across than the link would, never more.
  void expect_no_more_than(const plan::Condition& condition) const {
    const LinkMeasurement found = measured(condition);
    for (const auto& [asked, came] : {std::pair{condition.forward, found.forward},
                                      std::pair{condition.backward, found.backward}}) {
      EXPECT_GT(came.bits_per_second, 0);
      if (asked.bits_per_second == 0) continue;
      EXPECT_LT(came.bits_per_second, static_cast<double>(asked.bits_per_second) * 1.1);
    }
  }

  const std::filesystem::path& folder() const { return folder_->path(); }
  static std::string ifb() { return fmt::format("pifb{}", ::if_nametoindex(kInterface)); }

  std::optional<NetworkNamespace> first_;
  std::optional<NetworkNamespace> second_;
  std::optional<TemporaryFolder> folder_;
  DeviceQueues before_;
};

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

TEST_F(InterfaceEmulationTest, AKeptOneStaysUntilItIsCleared) {
  inside([&] {
    {
      auto applied = apply({at_rate(20), {}});
      ASSERT_TRUE(applied) << applied.error().message;
      const auto kept = applied->keep();
      ASSERT_TRUE(kept) << kept.error().message;
    }
    EXPECT_EQ(queues().root_kind, "tbf");
    ASSERT_EQ(list().size(), 1U);
    EXPECT_EQ(list()[0].state, EmulationState::kKept);
    EXPECT_THAT(clear_stale(folder()).value(), IsEmpty());
    EXPECT_EQ(queues().root_kind, "tbf");
    // Another takes its place.
    {
      auto applied = apply({at_rate(10), {}});
      ASSERT_TRUE(applied) << applied.error().message;
      ASSERT_TRUE(applied->keep());
    }
    const auto cleared = clear_emulation(kInterface, folder());
    EXPECT_TRUE(cleared) << cleared.error().message;
    expect_as_before();
    const auto again = clear_emulation(kInterface, folder());
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, ErrorCode::kNotFound);
  });
}

TEST_F(InterfaceEmulationTest, OneThatAKilledProcessLeftIsTakenBack) {
  inside([&] {
    if (!apply_and_die({at_rate(20), at_rate(5)})) GTEST_SKIP() << "this kernel lacks ifb or u32";
    EXPECT_EQ(queues().root_kind, "tbf");
    EXPECT_TRUE(queues().has_ingress);
    ASSERT_EQ(list().size(), 1U);
    EXPECT_EQ(list()[0].state, EmulationState::kStale);
    const auto cleared = clear_stale(folder());
    ASSERT_TRUE(cleared) << cleared.error().message;
    EXPECT_THAT(*cleared, ElementsAre(kInterface));
    expect_as_before();
  });
}

TEST_F(InterfaceEmulationTest, WhatCannotBeTakenBackIsToldAndLeftToAnybody) {
  inside([&] {
    {
      auto applied = apply({at_rate(20), {}});
      ASSERT_TRUE(applied) << applied.error().message;
      const std::string path = std::getenv("PATH");
      ::setenv("PATH", "/no/such/folder", 1);
      const auto ended = applied->end();
      ::setenv("PATH", path.c_str(), 1);
      ASSERT_FALSE(ended);
      EXPECT_THAT(ended.error().message, HasSubstr("paretoctl netem clear --interface edge0"));
    }
    EXPECT_EQ(queues().root_kind, "tbf");
    ASSERT_EQ(list().size(), 1U);
    EXPECT_EQ(list()[0].state, EmulationState::kStale);
    const auto cleared = clear_emulation(kInterface, folder());
    EXPECT_TRUE(cleared) << cleared.error().message;
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

TEST_F(InterfaceEmulationTest, ANewOneTakesThePlaceOfAStaleOne) {
  inside([&] {
    ASSERT_TRUE(apply_and_die({at_rate(20), {}}));
    {
      const auto applied = apply({at_rate(10), {}});
      ASSERT_TRUE(applied) << applied.error().message;
    }
    expect_as_before();
  });
}

TEST_F(InterfaceEmulationTest, ARecordOfWhatWasNeverDoneIsCleared) {
  inside([&] {
    auto record = record_of_this_process();
    ASSERT_TRUE(record);
    ++record->started;  // gone
    record->interface = kInterface;
    record->index = ::if_nametoindex(kInterface);
    record->ifb = ifb();
    record->most_segments = kManySegments;
    ASSERT_TRUE(RecordFolder::hold(folder())->write(*record));
    const auto cleared = clear_stale(folder());
    ASSERT_TRUE(cleared) << cleared.error().message;
    EXPECT_THAT(*cleared, ElementsAre(kInterface));
    expect_as_before();
  });
}

TEST_F(InterfaceEmulationTest, AGarbledRecordIsToldAndWhatItWasForTakenBack) {
  inside([&] {
    ASSERT_TRUE(apply_and_die({at_rate(20), {}}));
    for (const auto& file : std::filesystem::directory_iterator(folder())) {
      if (file.path().extension() == ".json") std::ofstream(file.path()) << "{\"format\": 1, ";
    }
    ASSERT_EQ(list().size(), 1U);
    EXPECT_EQ(list()[0].state, EmulationState::kUnreadable);
    const auto cleared = clear_stale(folder());
    ASSERT_TRUE(cleared) << cleared.error().message;
    EXPECT_THAT(*cleared, ElementsAre(kInterface));
    expect_as_before();
  });
}

TEST_F(InterfaceEmulationTest, WhatAProcessHoldsIsLeftToIt) {
  inside([&] {
    const auto applied = apply({at_rate(20), {}});
    ASSERT_TRUE(applied) << applied.error().message;
    for (const auto& refused : {clear_emulation(kInterface, folder()),
                                apply({at_rate(10), {}}).map([](const auto&) {})}) {
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
      EXPECT_THAT(refused.error().message, HasSubstr(fmt::format("process {}", ::getpid())));
    }
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
