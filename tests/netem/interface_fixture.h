// Two devices joined by a veth pair, each in a network namespace of its own, for tests.
#pragma once

#include <gmock/gmock.h>
#include <net/if.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "core/base/file.h"
#include "netem/interface_emulation.h"
#include "netem/link_measurement.h"
#include "netem/traffic_control.h"

namespace pareto::netem {

inline constexpr const char* kInterface = "edge0";

inline plan::LinkDirection at_rate(double megabits) {
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
    EXPECT_THAT(list(), testing::IsEmpty());
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

}  // namespace pareto::netem
