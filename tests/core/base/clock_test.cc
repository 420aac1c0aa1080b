#include "core/base/clock.h"

#include <gtest/gtest.h>

namespace pareto {
namespace {

TEST(Durations, AreNumbersInTheUnitAskedFor) {
  const Nanoseconds duration(-1'234'567'891);
  EXPECT_EQ(to_nanoseconds(duration), -1234567891.0);
  EXPECT_EQ(to_milliseconds(duration), -1234.567891);
  EXPECT_EQ(to_seconds(duration), -1.234567891);
  EXPECT_EQ(to_seconds(Nanoseconds::max()), 9223372036.854775807);
}

TEST(Durations, OfNanosecondsAreTheNearest) {
  EXPECT_EQ(from_nanoseconds(2.49), Nanoseconds(2));
  EXPECT_EQ(from_nanoseconds(2.5), Nanoseconds(3)) << "not the even one";
  EXPECT_EQ(from_nanoseconds(-2.5), Nanoseconds(-3));
  EXPECT_EQ(from_nanoseconds(-0.4), Nanoseconds(0));
  // More whole ones than a float holds, and as many as a double does.
  EXPECT_EQ(from_nanoseconds(to_nanoseconds(Nanoseconds((1LL << 53) - 1))).count(),
            (1LL << 53) - 1);
}

}  // namespace
}  // namespace pareto
