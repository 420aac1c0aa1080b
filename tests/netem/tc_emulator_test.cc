// The kernel's emulator by measurement, and next to the user-space one. Where the kernel has no
// netem most of it is skipped: `./dev test-netem` runs it on one that has.
#include "netem/tc_emulator.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>

#include <cmath>
#include <cstdio>
#include <optional>

#include "core/base/file_descriptor.h"
#include "netem/emulated_pair.h"
#include "netem/link_measurement.h"
#include "netem/traffic_control.h"

namespace pareto::netem {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

plan::LinkDirection direction(int delay_ms, double megabits) {
  plan::LinkDirection made;
  made.delay = milliseconds(delay_ms);
  made.bits_per_second = static_cast<std::uint64_t>(std::llround(megabits * 1e6));
  return made;
}

struct NamedCondition {
  const char* name;
  plan::Condition condition;
};

/// Returns the conditions that both emulators are held against.
std::vector<NamedCondition> four_conditions() {
  return {{"10 ms, 10 Mbit/s", {direction(10, 10), direction(10, 10)}},
          {"20 ms, 50 Mbit/s", {direction(20, 50), direction(20, 50)}},
          {"100 ms, 5 Mbit/s", {direction(100, 5), direction(100, 5)}},
          {"25 ms, 40 / 10 Mbit/s", {direction(25, 40), direction(25, 10)}}};
}

/// Measures a link that was measured; another try where the machine had other things to do.
Expected<LinkMeasurement> measured(EmulatorKind kind, const plan::Condition& condition) {
  constexpr int kTries = 3;
  for (int left = kTries; true; --left) {
    PARETO_ASSIGN(const EmulatedPair pair, EmulatedPair::create(condition, kind));
    PARETO_ASSIGN(const LinkMeasurement found,
                  measure_link(pair.first(), pair.second(), measurement_for(condition)));
    const auto judged = check_measurement(condition, found);
    if (judged) return found;
    if (left == 1) return tl::unexpected(judged.error());
  }
}

/// Measures the round trip with so few probes that it takes hardly longer than the link does.
Nanoseconds round_trip(const EmulatedPair& pair) {
  const auto found = measure_link(pair.first(), pair.second(),
                                  {.probes = 5, .interval = milliseconds(1), .stream = {}});
  EXPECT_TRUE(found) << found.error().message;
  return found ? found->round_trip : Nanoseconds(0);
}

/// Skips where the kernel has no netem.
class NetemTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto there = try_tc();
    if (!there) GTEST_SKIP() << there.error().message;
  }

  void join(const plan::Condition& condition) {
    auto made = EmulatedPair::create(condition, EmulatorKind::kTc);
    ASSERT_TRUE(made) << made.error().message;
    pair_.emplace(*std::move(made));
  }

  std::optional<EmulatedPair> pair_;
};

TEST(TcEmulator, ARateAloneTakesNoNetem) {
  const plan::Condition condition{direction(0, 20), direction(0, 5)};
  const auto found = measured(EmulatorKind::kTc, condition);
  if (!found && found.error().code == ErrorCode::kPermission) GTEST_SKIP() << found.error().message;
  EXPECT_TRUE(found) << found.error().message;
}

TEST(TcEmulator, SaysWhatTheKernelLacks) {
  const auto there = try_tc();
  if (there) GTEST_SKIP() << "this kernel has netem";
  if (there.error().code == ErrorCode::kPermission) GTEST_SKIP() << there.error().message;
  const plan::Condition condition{direction(10, 0), {}};
  const auto refused = EmulatedPair::create(condition, EmulatorKind::kTc);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(refused.error().message,
            "this kernel has no sch_netem (modprobe sch_netem); use the user emulator");
  const auto chosen = EmulatedPair::create(condition);
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->link().kind(), EmulatorKind::kUser);
}

TEST_F(NetemTest, IsChosenWhereItIsThere) {
  const auto chosen = EmulatedPair::create({});
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->link().kind(), EmulatorKind::kTc);
}

TEST_F(NetemTest, BothEmulatorsGiveTheSameLink) {
  std::printf("%-22s | %17s | %23s | %23s\n", "ms, Mbit/s there, back", "asked", "tc", "user");
  for (const auto& [name, condition] : four_conditions()) {
    const auto tc = measured(EmulatorKind::kTc, condition);
    ASSERT_TRUE(tc) << name << ": tc: " << tc.error().message;
    const auto user = measured(EmulatorKind::kUser, condition);
    ASSERT_TRUE(user) << name << ": user: " << user.error().message;
    const auto row = [](const LinkMeasurement& found) {
      return fmt::format("{:7.2f} {:7.2f} {:7.2f}", to_milliseconds(found.round_trip),
                         found.forward.bits_per_second / 1e6, found.backward.bits_per_second / 1e6);
    };
    const double asked = to_milliseconds(condition.forward.delay + condition.backward.delay);
    std::printf("%-22s | %5.0f %5.0f %5.0f | %s | %s\n", name, asked,
                static_cast<double>(condition.forward.bits_per_second) / 1e6,
                static_cast<double>(condition.backward.bits_per_second) / 1e6, row(*tc).c_str(),
                row(*user).c_str());
    constexpr double kShare = 0.05;
    EXPECT_NEAR(to_milliseconds(tc->round_trip), to_milliseconds(user->round_trip), kShare * asked)
        << name;
    for (const auto member : {&LinkMeasurement::forward, &LinkMeasurement::backward}) {
      EXPECT_NEAR(((*tc).*member).bits_per_second / ((*user).*member).bits_per_second, 1, kShare)
          << name;
    }
  }
}

TEST_F(NetemTest, LosesTheShareAskedFor) {
  plan::Condition condition{direction(2, 0), direction(2, 0)};
  condition.forward.loss = 0.05;
  condition.backward.burst_loss =
      plan::BurstLoss{.enter = 0.05, .leave = 0.5, .when_bad = 0.8, .when_good = 0.01};
  const auto found = measured(EmulatorKind::kTc, condition);
  EXPECT_TRUE(found) << found.error().message;
}

TEST_F(NetemTest, JitterHasTheDeviationAskedForInEveryShape) {
  for (const plan::JitterShape shape :
       {plan::JitterShape::kNormal, plan::JitterShape::kUniform, plan::JitterShape::kPareto}) {
    for (const double correlation : {0.0, 0.5}) {
      plan::Condition condition{direction(20, 0), {}};
      condition.forward.jitter = {milliseconds(2), correlation, shape};
      join(condition);
      const auto found = measure_link(pair_->first(), pair_->second(),
                                      {.probes = 600, .interval = milliseconds(5), .stream = {}});
      ASSERT_TRUE(found) << found.error().message;
      std::printf("%s, correlation %.1f: round trip %.2f ms, deviation %.2f ms\n",
                  std::string(to_string(shape)).c_str(), correlation,
                  to_milliseconds(found->round_trip), to_milliseconds(found->round_trip_deviation));
      EXPECT_NEAR(to_milliseconds(found->round_trip_deviation), 2, 0.5) << to_string(shape);
      pair_.reset();
    }
  }
}

TEST_F(NetemTest, AnotherConditionHoldsFromNowOn) {
  join({});
  for (const auto& [name, condition] : four_conditions()) {
    const auto changed = pair_->link().change(condition);
    ASSERT_TRUE(changed) << changed.error().message;
    const double asked = to_milliseconds(condition.forward.delay + condition.backward.delay);
    EXPECT_GE(to_milliseconds(round_trip(*pair_)), asked) << name;
  }
  ASSERT_TRUE(pair_->link().change({}));
  const TimePoint patience = std::chrono::steady_clock::now() + seconds(20);
  while (round_trip(*pair_) > milliseconds(20)) {
    ASSERT_LT(std::chrono::steady_clock::now(), patience) << "never without the delay";
  }
}

TEST_F(NetemTest, ATraceChangesTheDelay) {
  plan::Condition condition;
  condition.forward.trace = {{milliseconds(100), milliseconds(40), 20'000'000}};
  join(condition);
  const TimePoint patience = std::chrono::steady_clock::now() + seconds(20);
  while (round_trip(*pair_) < milliseconds(40)) {
    ASSERT_LT(std::chrono::steady_clock::now(), patience) << "the delay never came";
  }
  const auto checked = pair_->link().check();
  EXPECT_TRUE(checked) << checked.error().message;
}

}  // namespace
}  // namespace pareto::netem
