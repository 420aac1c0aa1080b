// Readings that are waited for by a descriptor.
#include "client/watch/background_reading.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <future>
#include <stdexcept>

#include "tests/client/watch/readings.h"

namespace pareto::watch {
namespace {

/// timeout: in milliseconds; -1: as long as it takes.
bool is_done(const BackgroundReading& reading, int timeout) {
  pollfd done{reading.descriptor(), POLLIN, 0};
  return ::poll(&done, 1, timeout) == 1;
}

TEST(BackgroundReadingTest, IsToldByItsDescriptorAgainAndAgain) {
  std::promise<void> answer;
  std::future<void> answered;
  BackgroundReading reading([&] {
    answered.wait();
    return std::vector{test::silent_device("pi-1")};
  });
  EXPECT_EQ(reading.descriptor(), -1);
  for (int i = 0; i < 2; ++i) {
    answer = std::promise<void>();
    answered = answer.get_future();
    ASSERT_TRUE(reading.start());
    EXPECT_FALSE(is_done(reading, 0));
    answer.set_value();
    EXPECT_TRUE(is_done(reading, -1));
    EXPECT_EQ(reading.take().at(0).name, "pi-1");
    EXPECT_EQ(reading.descriptor(), -1);
  }
}

TEST(BackgroundReadingTest, IsWaitedForByWhoTakesItOrEndsIt) {
  std::atomic<int> read{0};
  {
    BackgroundReading reading([&] {
      ++read;
      return std::vector<DeviceReading>{};
    });
    ASSERT_TRUE(reading.start());
    EXPECT_TRUE(reading.take().empty());
    EXPECT_EQ(read, 1);
    ASSERT_TRUE(reading.start());
  }
  EXPECT_EQ(read, 2);
}

TEST(BackgroundReadingTest, OneThatThrowsIsDoneToo) {
  BackgroundReading reading(
      []() -> std::vector<DeviceReading> { throw std::runtime_error("no threads left"); });
  ASSERT_TRUE(reading.start());
  EXPECT_TRUE(is_done(reading, -1));
  EXPECT_THROW(reading.take(), std::runtime_error);
  EXPECT_EQ(reading.descriptor(), -1);
}

}  // namespace
}  // namespace pareto::watch
