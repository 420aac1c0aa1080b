// Never sooner than a slower processor would have been; how much later is a matter of measuring.
#include "daemon/imitation/slow_processor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <latch>
#include <thread>

#include "tests/daemon/support/use_processor.h"

namespace pareto::daemon {
namespace {

using test::use_processor;

TEST(SlowProcessor, TakesLongerByItsSpeedAndTheThreadsThatComputeHere) {
  EXPECT_EQ(SlowProcessor(0).times(1), 1);
  EXPECT_EQ(SlowProcessor(0).times(8), 1);
  EXPECT_EQ(SlowProcessor(0.5).times(1), 2);
  EXPECT_EQ(SlowProcessor(0.5).times(4), 8) << "all of them together are half a core";
  EXPECT_EQ(SlowProcessor(2).times(1), 1) << "one core is no faster";
  EXPECT_EQ(SlowProcessor(2).times(4), 2);
}

TEST(SlowProcessor, WorkEndsWhenItWouldThere) {
  SlowProcessor processor(0.25);
  const TimePoint begin = now();
  SlowProcessor::Work work(processor, {});
  Nanoseconds used = use_processor();
  work.catch_up(0);
  EXPECT_GE(now() - begin, 4 * used);
  used += use_processor();
  work.finish();
  EXPECT_GE(now() - begin, 4 * used) << "what it waited for before is not counted again";
}

TEST(SlowProcessor, ThreadsBesidesAreTimedByTheClock) {
  SlowProcessor processor(0.5);
  const TimePoint begin = now();
  runtime::RunnerOptions options;
  options.threads = 2;
  SlowProcessor::Work work(processor, options);
  use_processor();
  const Nanoseconds passed = now() - begin;
  work.finish();
  EXPECT_GE(now() - begin, 3 * passed) << "some of it passed before the work began";
}

TEST(SlowProcessor, WhatIsComputedAtOnceTakesTurns) {
  SlowProcessor processor(0.5);
  std::latch both(2);
  struct {
    Nanoseconds used{};
    TimePoint begin{};
    TimePoint end{};
  } one, other;
  const auto compute = [&](auto& done) {
    both.arrive_and_wait();
    done.begin = now();
    SlowProcessor::Work work(processor, {});
    done.used = use_processor();
    work.finish();
    done.end = now();
  };
  {
    const std::jthread first([&] { compute(one); });
    const std::jthread second([&] { compute(other); });
  }
  EXPECT_GE(std::max(one.end, other.end) - std::min(one.begin, other.begin),
            2 * (one.used + other.used));
}

}  // namespace
}  // namespace pareto::daemon
