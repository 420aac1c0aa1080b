#include "daemon/stage/sent_bytes.h"

#include <gtest/gtest.h>

#include <thread>

namespace pareto::daemon {
namespace {

TEST(SentBytes, AreTakenOnceThatManyMessagesLeft) {
  SentBytes sent;
  sent.add(10);
  const std::jthread sending([&] { sent.add(5); });
  EXPECT_EQ(sent.take(2).value(), 15U);
  EXPECT_EQ(sent.take(0).value(), 0U);
}

TEST(SentBytes, NobodyWaitsForLinksThatAreClosed) {
  SentBytes sent;
  const std::jthread closing([&] { sent.close(); });
  const auto taken = sent.take(1);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::kClosed);
}

}  // namespace
}  // namespace pareto::daemon
