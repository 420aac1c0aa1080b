#include "core/base/rare_line.h"

#include <gtest/gtest.h>

namespace pareto {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const TimePoint kBegin{seconds(5)};

TEST(RareLine, IsDueOnceInAPeriodAndCountsTheRest) {
  RareLine line(seconds(1));
  EXPECT_EQ(line.due(kBegin), 1U);
  for (int i = 1; i < 1000; ++i) EXPECT_FALSE(line.due(kBegin + milliseconds(i)));
  EXPECT_EQ(line.due(kBegin + seconds(1)), 1000U);
  EXPECT_FALSE(line.due(kBegin + milliseconds(1999)));
}

TEST(RareLine, MayBeDueSeveralTimesInAPeriod) {
  RareLine line(seconds(1), 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(line.due(kBegin), 1U);
  EXPECT_FALSE(line.due(kBegin));
  EXPECT_FALSE(line.due(kBegin + milliseconds(999)));
  EXPECT_EQ(line.due(kBegin + seconds(1)), 3U) << "the two that were not written, and this one";
  EXPECT_EQ(line.due(kBegin + seconds(1)), 1U);
}

TEST(RareLine, SaysHowOftenItWasDue) {
  EXPECT_EQ(since_last_line(1), "");
  EXPECT_EQ(since_last_line(70), " (70 since the last such line)");
}

}  // namespace
}  // namespace pareto
