// Threads that are waited for no longer than one likes, and what waits to be sent.
#include "daemon/stage/stage_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "tests/daemon/support/pipeline.h"

namespace pareto::daemon {
namespace {

using test::soon;

TEST(StageThreads, AreJoinedWhenTheyHaveEnded) {
  std::promise<void> go_on;
  std::atomic<int> ended{0};
  StageThreads threads;
  ASSERT_TRUE(threads.start([&] {
    go_on.get_future().wait();
    ++ended;
  }));
  ASSERT_TRUE(threads.start([&] { ++ended; }));
  EXPECT_FALSE(threads.join_by(std::chrono::steady_clock::now())) << "one still runs";
  go_on.set_value();
  EXPECT_TRUE(threads.join_by(soon()));
  EXPECT_EQ(ended, 2);
  EXPECT_TRUE(threads.join_by(soon())) << "again, there is nothing to do";
}

TEST(StageThreads, NoneStartsOnceTheyAreJoined) {
  StageThreads threads;
  EXPECT_TRUE(threads.join_by(soon()));
  EXPECT_EQ(threads.start([] {}).error().code, ErrorCode::kClosed);
}

TEST(StageThreads, SeveralMayWaitForThem) {
  std::promise<void> go_on;
  StageThreads threads;
  ASSERT_TRUE(threads.start([&] { go_on.get_future().wait(); }));
  const auto wait = [&] { return threads.join_by(soon()); };
  auto one = std::async(std::launch::async, wait);
  auto other = std::async(std::launch::async, wait);
  go_on.set_value();
  EXPECT_TRUE(one.get());
  EXPECT_TRUE(other.get());
}

}  // namespace
}  // namespace pareto::daemon
