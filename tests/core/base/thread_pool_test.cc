#include "core/base/thread_pool.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace pareto {
namespace {

TEST(ThreadPool, RunsEachPartOnce) {
  for (const int threads : {1, 2, 3, 7}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const int parts : {1, 2, 3, 5, 17, ThreadPool::kMostParts}) {
      for (int round = 0; round < 200; ++round) {
        std::array<std::atomic<int>, ThreadPool::kMostParts> runs{};
        pool.run(parts, [&](int part) { ++runs[static_cast<std::size_t>(part)]; });
        for (int part = 0; part < ThreadPool::kMostParts; ++part) {
          ASSERT_EQ(runs[static_cast<std::size_t>(part)], part < parts ? 1 : 0)
              << part << " of " << parts << ", " << threads << " threads, round " << round;
        }
      }
    }
  }
}

TEST(ThreadPool, PartsMayWaitForEachOther) {
  constexpr int kThreads = 4;
  ThreadPool pool(kThreads);
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> arrived{0};
    pool.run(kThreads, [&](int) {
      ++arrived;
      arrived.notify_all();
      for (int seen = arrived; seen < kThreads; seen = arrived) arrived.wait(seen);
    });
    EXPECT_EQ(arrived, kThreads);
  }
}

TEST(ThreadPool, WakesThreadsThatSleep) {
  ThreadPool pool(2);
  std::thread::id other{};
  const std::thread::id own = std::this_thread::get_id();
  // Both parts run at the same time, so that the second thread has one of them, however long it
  // slept.
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> arrived{0};
    pool.run(2, [&](int) {
      if (std::this_thread::get_id() != own) other = std::this_thread::get_id();
      ++arrived;
      arrived.notify_all();
      for (int seen = arrived; seen < 2; seen = arrived) arrived.wait(seen);
    });
    EXPECT_NE(other, own);
    EXPECT_NE(other, std::thread::id{});
    std::this_thread::yield();
  }
}

TEST(ThreadPool, RethrowsAfterAllPartsAreDone) {
  ThreadPool pool(3);
  std::atomic<int> done{0};
  const auto fail_at_two = [&](int part) {
    if (part == 2) throw std::runtime_error("part 2");
    ++done;
  };
  EXPECT_THROW(pool.run(6, fail_at_two), std::runtime_error);
  EXPECT_EQ(done, 5);
  // It goes on as if nothing had happened.
  pool.run(2, [&](int) { ++done; });
  EXPECT_EQ(done, 7);
}

TEST(ThreadPool, PreparesEachStartedThreadOnce) {
  std::mutex mutex;
  std::set<std::thread::id> prepared;
  {
    ThreadPool pool(4, [&] {
      const std::lock_guard lock(mutex);
      EXPECT_TRUE(prepared.insert(std::this_thread::get_id()).second);
    });
    std::atomic<int> arrived{0};
    pool.run(4, [&](int) {
      ++arrived;
      arrived.notify_all();
      for (int seen = arrived; seen < 4; seen = arrived) arrived.wait(seen);
    });
  }
  EXPECT_EQ(prepared.size(), 3u);
  EXPECT_FALSE(prepared.contains(std::this_thread::get_id()));
}

TEST(Share, GoesByTheCurrentPoolAndNotDeeper) {
  EXPECT_EQ(current_pool(), nullptr);
  int alone = 0;
  share(3, [&](int part) { alone += part; });
  EXPECT_EQ(alone, 3);
  ThreadPool pool(2);
  const PoolScope scope(&pool);
  EXPECT_EQ(current_pool(), &pool);
  std::atomic<int> runs{0};
  share(4, [&](int) {
    EXPECT_EQ(current_pool(), nullptr);
    share(3, [&](int) { ++runs; });
  });
  EXPECT_EQ(runs, 12);
  EXPECT_EQ(current_pool(), &pool);
  {
    const PoolScope none(nullptr);
    EXPECT_EQ(current_pool(), nullptr);
  }
  EXPECT_EQ(current_pool(), &pool);
}

}  // namespace
}  // namespace pareto
