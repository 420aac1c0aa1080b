#include "coordinator/results/time_split.h"

#include <gtest/gtest.h>

namespace pareto::results {
namespace {

TEST(TimeSplit, TheRestIsWhatThePartsLeave) {
  const TimeSplit split = split_time(10, 6, 3);
  EXPECT_EQ(split.compute_ms, 6);
  EXPECT_EQ(split.transfer_ms, 3);
  EXPECT_EQ(split.wait_ms, 1);
  EXPECT_TRUE(has_rest(split));
}

TEST(TimeSplit, NoPartIsCutWhereTheyExceedTheWhole) {
  const TimeSplit split = split_time(13.11, 13.25, 0.129);
  EXPECT_EQ(split.compute_ms, 13.25);
  EXPECT_EQ(split.transfer_ms, 0.129);
  EXPECT_NEAR(split.wait_ms, -0.269, 1e-9);
  EXPECT_FALSE(has_rest(split));
}

TEST(TimeSplit, RoundingIsNoDeficit) { EXPECT_TRUE(has_rest(split_time(0.3, 0.1, 0.2))); }

}  // namespace
}  // namespace pareto::results
