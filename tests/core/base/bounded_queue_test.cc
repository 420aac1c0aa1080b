#include "core/base/bounded_queue.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace pareto {
namespace {

using std::chrono::milliseconds;

TEST(BoundedQueue, HandsOutInOrder) {
  BoundedQueue<int> queue(3);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.push(i));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(queue.pop().value(), i);
}

TEST(BoundedQueue, FullAndEmptyTimeOut) {
  BoundedQueue<int> queue(1);
  EXPECT_EQ(queue.pop(deadline_after(milliseconds(1))).error().code, ErrorCode::kTimeout);
  ASSERT_TRUE(queue.push(1));
  EXPECT_EQ(queue.push(2, deadline_after(milliseconds(1))).error().code, ErrorCode::kTimeout);
  EXPECT_EQ(queue.size(), 1U);
}

TEST(BoundedQueue, CapacityZeroStillMoves) {
  BoundedQueue<int> queue(0);
  ASSERT_TRUE(queue.push(7));
  EXPECT_EQ(queue.pop().value(), 7);
}

TEST(BoundedQueue, WhatItsItemsHoldIsBoundedAsWell) {
  BoundedQueue<int> queue(10,
                          {100, [](const int& item) { return static_cast<std::uint64_t>(item); }});
  const auto soon = deadline_after(milliseconds(1));
  ASSERT_TRUE(queue.push(60));
  ASSERT_TRUE(queue.push(40));
  EXPECT_EQ(queue.push(1, soon).error().code, ErrorCode::kTimeout);
  ASSERT_TRUE(queue.push(0, soon)) << "it holds nothing";
  EXPECT_EQ(queue.pop().value(), 60);
  ASSERT_TRUE(queue.push(60, soon));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.pop());
  // One that alone holds more than all may hold goes through alone.
  ASSERT_TRUE(queue.push(1000, soon));
  EXPECT_EQ(queue.push(1, soon).error().code, ErrorCode::kTimeout);
  EXPECT_EQ(queue.pop().value(), 1000);
  EXPECT_TRUE(queue.push(1, soon));
}

TEST(BoundedQueue, CloseWakesBothSidesAndLeavesWhatIsQueued) {
  BoundedQueue<int> full(1);
  ASSERT_TRUE(full.push(1));
  ErrorCode pushed = ErrorCode::kInternal;
  std::jthread producer([&] { pushed = full.push(2).error().code; });
  BoundedQueue<int> empty(1);
  ErrorCode popped = ErrorCode::kInternal;
  std::jthread consumer([&] { popped = empty.pop().error().code; });
  full.close();
  empty.close();
  producer.join();
  consumer.join();
  EXPECT_EQ(pushed, ErrorCode::kClosed);
  EXPECT_EQ(popped, ErrorCode::kClosed);
  EXPECT_EQ(full.pop().value(), 1);
  EXPECT_EQ(full.pop().error().code, ErrorCode::kClosed);
}

TEST(BoundedQueue, BlocksTheProducerAndLosesNothing) {
  constexpr int kItems = 10000;
  BoundedQueue<int> queue(2);
  std::jthread producer([&] {
    for (int i = 0; i < kItems; ++i) ASSERT_TRUE(queue.push(i));
    queue.close();
  });
  int expected = 0;
  while (auto item = queue.pop()) {
    EXPECT_EQ(*item, expected++);
    EXPECT_LE(queue.size(), 2U);
  }
  EXPECT_EQ(expected, kItems);
}

}  // namespace
}  // namespace pareto
