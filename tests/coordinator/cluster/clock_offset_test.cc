#include "coordinator/cluster/clock_offset.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace pareto::cluster {
namespace {

constexpr Nanoseconds kAhead{1'000'000};

/// Returns a question that took `there`, an answer that took `back`, and 10 ns between them.
ClockExchange exchange(Nanoseconds there, Nanoseconds back) {
  const Nanoseconds asked{500};
  const Nanoseconds received = asked + there + kAhead;
  const Nanoseconds answered = received + Nanoseconds(10);
  return {asked, received, answered, answered - kAhead + back};
}

TEST(ClockOffset, IsExactWhereBothWaysTakeTheSame) {
  const auto clock = clock_offset_of(std::array{exchange(Nanoseconds(40), Nanoseconds(40))});
  ASSERT_TRUE(clock);
  EXPECT_EQ(clock->offset, kAhead);
  EXPECT_EQ(clock->error, Nanoseconds(41));
}

TEST(ClockOffset, IsWithinItsErrorHoweverUnequalTheWays) {
  for (const int there : {0, 1, 7, 100}) {
    for (const int back : {0, 1, 7, 100}) {
      const auto clock =
          clock_offset_of(std::array{exchange(Nanoseconds(there), Nanoseconds(back))});
      ASSERT_TRUE(clock);
      EXPECT_LE(clock->offset - clock->error, kAhead);
      EXPECT_GE(clock->offset + clock->error, kAhead);
    }
  }
}

TEST(ClockOffset, ComesFromTheFastestExchange) {
  const auto slow = exchange(Nanoseconds(9000), Nanoseconds(10));
  const auto fast = exchange(Nanoseconds(30), Nanoseconds(30));
  const auto clock = clock_offset_of(std::array{slow, fast, slow});
  ASSERT_TRUE(clock);
  EXPECT_EQ(clock->offset, kAhead);
  EXPECT_EQ(clock->error, Nanoseconds(31));
}

TEST(ClockOffset, TimestampsOfNoClockAreRefused) {
  EXPECT_EQ(clock_offset_of({}).error().code, ErrorCode::kInvalidArgument);
  const auto good = exchange(Nanoseconds(5), Nanoseconds(5));
  auto backwards = good;
  backwards.answered = backwards.received - Nanoseconds(1);
  auto too_long = good;
  too_long.answered += Nanoseconds(1000);
  auto huge = good;
  huge.received = huge.answered = Nanoseconds(std::numeric_limits<std::int64_t>::max());
  for (const auto& bad : {backwards, too_long, huge}) {
    EXPECT_EQ(clock_offset_of(std::array{good, bad}).error().code, ErrorCode::kCorrupt);
  }
}

TEST(ClockOffset, BetweenTwoMeasurementsItMayBeAnyOfBoth) {
  const ClockOffset before{Nanoseconds(100), Nanoseconds(10)};
  const ClockOffset after{Nanoseconds(130), Nanoseconds(5)};
  for (const ClockOffset& between : {enclosing(before, after), enclosing(after, before)}) {
    EXPECT_LE(between.offset - between.error, Nanoseconds(90));
    EXPECT_GE(between.offset + between.error, Nanoseconds(135));
    EXPECT_LE(between.error, Nanoseconds(23));
  }
}

}  // namespace
}  // namespace pareto::cluster
