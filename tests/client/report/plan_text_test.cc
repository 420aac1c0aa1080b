#include "client/report/plan_text.h"

#include <gtest/gtest.h>

#include "coordinator/results/time_split.h"

namespace pareto::report {
namespace {

TEST(TimeSplitText, SaysWhereTheLatencyWent) {
  EXPECT_EQ(time_split_text(results::split_time(45.52, 29.26, 14.38)),
            "= 29.26 compute + 14.38 transfer + 1.880 rest");
  EXPECT_EQ(rest_text(results::split_time(45.52, 29.26, 14.38)), "1.880");
  EXPECT_EQ(rest_text(results::split_time(0.3, 0.1, 0.2)), "0.000") << "and never -0.000";
}

TEST(TimeSplitText, PartsThatExceedTheWholeLeaveNoRest) {
  const results::TimeSplit split = results::split_time(13.11, 13.25, 0.129);
  EXPECT_EQ(rest_text(split), "-");
  EXPECT_EQ(time_split_text(split),
            "of it 13.25 compute, 0.129 transfer: medians of their own, together more than the "
            "whole");
}

}  // namespace
}  // namespace pareto::report
