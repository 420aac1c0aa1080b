// Items on their way through a stage, and when a thread may overtake the sending one.
#include "daemon/stage/stage_item.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/daemon/support/fake_runner.h"
#include "tests/daemon/support/pipeline.h"

namespace pareto::daemon {
namespace {

StageItem item_with(std::uint64_t bytes) {
  StageItem item{test::request_message(7, 0, 1.F)};
  item.bytes = bytes;
  return item;
}

TEST(StageItem, HoldsWhatItsTensorsHoldOrItsFrame) {
  transport::Received received;
  received.message = test::request_message(7, 4, 1.F);
  received.wire_bytes = 3;  // as if a codec had made it
  received.arrived = TimePoint(Nanoseconds(1000));
  received.receive = Nanoseconds(20);
  received.decode = Nanoseconds(3);
  received.cpu = Nanoseconds(7);
  const StageItem item = item_of(received, 2);
  EXPECT_EQ(item.bytes, 4 * sizeof(float));
  EXPECT_EQ(item.times.stage, 2U);
  EXPECT_EQ(item.times.arrived, Nanoseconds(1000));
  EXPECT_EQ(item.times.receive, Nanoseconds(20));
  EXPECT_EQ(item.times.decode, Nanoseconds(3));
  EXPECT_EQ(item.times.receive_cpu, Nanoseconds(7));
  EXPECT_EQ(item.queued, TimePoint(Nanoseconds(1023)));
  received.wire_bytes = 5000;
  EXPECT_EQ(item_of(std::move(received), 2).bytes, 5000U);
}

TEST(SendQueue, IsIdleOnlyOnceWhatWasTakenHasBeenSent) {
  SendQueue queue(2, 1000);
  EXPECT_TRUE(queue.idle());
  EXPECT_TRUE(queue.push(item_with(1)));
  EXPECT_FALSE(queue.idle());
  ASSERT_TRUE(queue.pop());
  EXPECT_FALSE(queue.idle()) << "it is being sent";
  queue.sent();
  EXPECT_TRUE(queue.idle());
}

TEST(SendQueue, IsBoundedInItemsAndBytes) {
  SendQueue queue(2, 1000);
  EXPECT_TRUE(queue.empty());
  EXPECT_TRUE(queue.push(item_with(1001))) << "one alone may hold more";
  EXPECT_FALSE(queue.empty());
  ASSERT_TRUE(queue.pop());
  EXPECT_TRUE(queue.push(item_with(1)));
  EXPECT_FALSE(queue.empty()) << "a part of 1000 bytes would wait";
  EXPECT_TRUE(queue.push(item_with(1)));
}

TEST(SendQueue, ClosedItTakesNothing) {
  SendQueue queue(2, 1000);
  queue.close();
  EXPECT_FALSE(queue.push(item_with(1)));
  EXPECT_EQ(queue.pop().error().code, ErrorCode::kClosed);
}

}  // namespace
}  // namespace pareto::daemon
