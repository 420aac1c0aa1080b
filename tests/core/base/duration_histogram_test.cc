#include "core/base/duration_histogram.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace pareto {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(DurationHistogram, BoundsAscendFrom100MicrosecondsTo60Seconds) {
  EXPECT_EQ(kDurationBounds.front(), microseconds(100));
  EXPECT_EQ(kDurationBounds.back(), seconds(60));
  EXPECT_TRUE(std::ranges::is_sorted(kDurationBounds, std::ranges::less_equal()));
}

TEST(DurationHistogram, ADurationIsCountedUpToTheFirstBoundThatHoldsIt) {
  DurationHistogram histogram;
  histogram.record(Nanoseconds(-5));
  histogram.record(microseconds(100));
  histogram.record(microseconds(100) + Nanoseconds(1));
  histogram.record(seconds(60));
  histogram.record(seconds(61));
  const DurationCounts counts = histogram.read();
  EXPECT_EQ(counts.counts[0], 2U);
  EXPECT_EQ(counts.counts[1], 1U);
  EXPECT_EQ(counts.counts[kDurationBounds.size() - 1], 1U);
  EXPECT_EQ(counts.counts[kDurationBounds.size()], 1U);
  EXPECT_EQ(counts.total(), 5U);
  EXPECT_EQ(counts.sum, seconds(121) + microseconds(200) + Nanoseconds(1));
}

TEST(DurationHistogram, NothingIsLostBetweenThreads) {
  constexpr std::uint64_t kEach = 20'000;
  DurationHistogram histogram;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (std::uint64_t n = 0; n < kEach; ++n) histogram.record(milliseconds(3));
      });
    }
  }
  DurationCounts twice = histogram.read();
  twice += histogram.read();
  EXPECT_EQ(twice.counts[5], 8 * kEach);
  EXPECT_EQ(twice.total(), 8 * kEach);
  EXPECT_EQ(twice.sum, milliseconds(3) * (8 * kEach));
}

}  // namespace
}  // namespace pareto
