// What keeps a connection warm, without waiting: which padding, and when it is due.
#include "core/transport/warmth.h"

#include <gtest/gtest.h>

namespace pareto::transport {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t k100Mbit = 12'500'000;

TEST(Padding, IsMoreThanHalfOfWhatIsInFlightOncePerTimeout) {
  const auto padding = padding_for({milliseconds(40), k100Mbit}, 300'000);
  ASSERT_TRUE(padding);
  EXPECT_GT(padding->bytes, 150'000U);
  EXPECT_LT(padding->bytes, 200'000U);
  // The kernel forgets after the round trip and 200 ms.
  EXPECT_GT(padding->interval, milliseconds(40));
  EXPECT_LT(padding->interval, milliseconds(240));
}

TEST(Padding, NeverTakesMoreThanATenthOfTheRate) {
  for (const std::uint64_t rate : {k100Mbit / 100, k100Mbit / 10, k100Mbit, 10 * k100Mbit}) {
    for (const auto round_trip : {milliseconds(1), milliseconds(40), milliseconds(600)}) {
      const auto padding = padding_for({round_trip, rate}, 16 << 20);
      if (!padding) continue;
      const double seconds_between = std::chrono::duration<double>(padding->interval).count();
      EXPECT_LE(static_cast<double>(padding->bytes),
                static_cast<double>(rate) * seconds_between * 0.1001);
    }
  }
}

TEST(Padding, IsNotSentWhereItWouldNotPay) {
  // On one machine, or over one switch.
  EXPECT_FALSE(padding_for({microseconds(60), 4'000'000'000}, 300'000));
  // Into ten segments, which every connection starts with.
  EXPECT_FALSE(padding_for({milliseconds(40), k100Mbit}, 4'000));
  EXPECT_FALSE(padding_for({milliseconds(40), 100'000}, 300'000));
  // Nothing was learnt of the rate.
  EXPECT_FALSE(padding_for({milliseconds(40), 0}, 300'000));
}

TEST(IdleSchedule, PaddingIsDueAfterEveryIntervalOfSilence) {
  const TimePoint start{};
  IdleSchedule schedule(milliseconds(200), start);
  EXPECT_EQ(schedule.next(), start + milliseconds(200));
  schedule.used(start + milliseconds(150));
  EXPECT_EQ(schedule.next(), start + milliseconds(350));
  schedule.padded(start + milliseconds(360));
  EXPECT_EQ(schedule.next(), start + milliseconds(560));
}

TEST(IdleSchedule, EndsSomeTimeAfterTheLastUseAndStartsAgainWithTheNext) {
  const TimePoint start{};
  IdleSchedule schedule(milliseconds(200), start);
  TimePoint last = start;
  while (const Deadline due = schedule.next()) {
    last = *due;
    schedule.padded(last);
  }
  EXPECT_EQ(last, start + IdleSchedule::kLasting);
  const TimePoint later = start + seconds(60);
  schedule.used(later);
  EXPECT_EQ(schedule.next(), later + milliseconds(200));
}

}  // namespace
}  // namespace pareto::transport
