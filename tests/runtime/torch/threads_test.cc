// Waiting for threads that look for work.
#include "runtime/torch/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace pareto::runtime {
namespace {

TEST(Threads, AreAwaitedNotForeverWhileOneComputes) {
  std::atomic<bool> computes{false};
  std::jthread busy([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) computes = true;
  });
  while (!computes) std::this_thread::yield();
  await_idle_threads();
  EXPECT_FALSE(busy.get_stop_token().stop_requested()) << "it still computes";
}

TEST(Threads, ThatSleepAreAwaited) {
  std::atomic<bool> awake{false};
  std::jthread sleeper([&] { awake.wait(false); });
  await_idle_threads();
  awake = true;
  awake.notify_all();
}

}  // namespace
}  // namespace pareto::runtime
