// What counts as busy, on simulated clocks.
#include "daemon/device/busy_budget.h"

#include <gtest/gtest.h>

#include <chrono>

namespace pareto::daemon::device {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kStart{std::chrono::hours(1)};

/// A process that computes whenever its budget is open, with clocks that a test tells.
class Process {
 public:
  explicit Process(const BusyLimit& limit) : budget_(limit, now_, [this] { return processor_; }) {}

  /// Lets time pass in which the process uses so much processor time.
  void pass(Nanoseconds time, Nanoseconds processor, const BusyUse& use) {
    now_ += time;
    processor_ += processor;
    budget_.count(now_, use);
  }
  /// Waits until the budget is open, and then computes on `use.held` cores: a turn of 20 ms that
  /// uses `in_turn` of processor time, and `between` before the next one.
  void compute(Nanoseconds in_turn, Nanoseconds between, const BusyUse& use) {
    for (auto again = budget_.opens_at(0); again; again = budget_.opens_at(0)) {
      pass(*again - now_, Nanoseconds(0), {});
    }
    EXPECT_TRUE(budget_.open());
    pass(milliseconds(20), in_turn, use);
    pass(milliseconds(1), between, {});
  }
  /// Computes so for a minute. Returns the share of a core that the process used.
  double share_of_a_minute(Nanoseconds in_turn, Nanoseconds between, const BusyUse& use) {
    const TimePoint begin = now_;
    const Nanoseconds before = processor_;
    while (now_ < begin + seconds(60)) compute(in_turn, between, use);
    return to_seconds(processor_ - before) / to_seconds(now_ - begin);
  }
  BusyBudget& budget() { return budget_; }

 private:
  TimePoint now_ = kStart;
  Nanoseconds processor_{seconds(5)};
  BusyBudget budget_;
};

TEST(BusyBudget, TheShareIsOfProcessorTimeThoughOthersUseTheCores) {
  // A turn of 20 ms gets its core for 20, 10 or 8 ms of them.
  for (const int got : {20, 10, 8}) {
    Process process({.share = 0.3, .cores = 1});
    EXPECT_NEAR(process.share_of_a_minute(milliseconds(got), {}, {.held = 1}), 0.3, 0.02) << got;
  }
}

TEST(BusyBudget, WhatIsDoneBetweenTurnsCounts) {
  Process process({.share = 0.3, .cores = 2});
  const double used = process.share_of_a_minute(milliseconds(38), milliseconds(4), {.held = 2});
  EXPECT_NEAR(used / 2, 0.3, 0.02);
}

TEST(BusyBudget, AStrictLimitOfCoresIsTheProcesss) {
  const auto used = [](bool strict) {
    Process process({.share = 1, .cores = 1, .strict = strict});
    // Receiving and sending keep another core busy for a moment of each turn.
    return process.share_of_a_minute(milliseconds(22), milliseconds(1), {.held = 1});
  };
  EXPECT_NEAR(used(true), 1, 0.02);
  EXPECT_GT(used(false), 1.08);
}

TEST(BusyBudget, PreparingShardsIsNotHeldAgainstIt) {
  Process process({.share = 0.5, .cores = 1});
  process.pass(seconds(30), seconds(30), {.prepares = true});
  EXPECT_TRUE(process.budget().open());
  // A turn next to it is.
  process.pass(seconds(3), seconds(6), {.held = 1, .prepares = true});
  EXPECT_FALSE(process.budget().open());
}

TEST(BusyBudget, ATurnOfAnAcceleratorCountsByItsTime) {
  Process process({.share = 0.5, .cores = 1});
  process.pass(seconds(3), milliseconds(1), {.held = 1, .elsewhere = 1});
  EXPECT_FALSE(process.budget().open());
  Process idle({.share = 0.5, .cores = 1});
  idle.pass(seconds(3), milliseconds(1), {.held = 1});
  EXPECT_TRUE(idle.budget().open());
}

TEST(BusyBudget, ALimitThatComesLaterCountsNothingThatWasBefore) {
  Process process({.share = 1, .cores = 1});
  process.pass(seconds(30), seconds(30), {.held = 1});
  process.budget().set_share(0.1);
  EXPECT_TRUE(process.budget().open());
  process.pass(seconds(1), seconds(1), {.held = 1});
  EXPECT_FALSE(process.budget().open());
  EXPECT_DOUBLE_EQ(process.budget().used(), 31);
}

}  // namespace
}  // namespace pareto::daemon::device
