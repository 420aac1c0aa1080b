#include "daemon/control/failed_calls.h"

#include <gtest/gtest.h>

namespace pareto::daemon {
namespace {

TEST(FailedCalls, WritesAFewLinesAndCountsTheRest) {
  FailedCalls calls;
  const Error error{ErrorCode::kPermission, "not for this role"};
  const TimePoint begin = std::chrono::steady_clock::now();
  std::size_t lines = 0;
  for (int i = 0; i < 1000; ++i) {
    lines += calls.add("LoadShard", error, begin + std::chrono::milliseconds(i)) ? 1 : 0;
  }
  EXPECT_EQ(lines, FailedCalls::kMostLines);
  EXPECT_TRUE(calls.add("LoadShard", error, begin + FailedCalls::kEvery)) << "the next ones";
}

}  // namespace
}  // namespace pareto::daemon
