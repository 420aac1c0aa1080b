// What needs neither root nor a network.
#include <gmock/gmock.h>

#include "netem/delay_line.h"
#include "netem/run_program.h"
#include "netem/token_bucket.h"

namespace pareto::netem {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::byte> packet(int number) { return {std::byte(number)}; }

TEST(DelayLine, EveryPacketLeavesAfterTheDelayInOrder) {
  DelayLine line(milliseconds(20));
  const TimePoint start{};
  EXPECT_EQ(line.next(), std::nullopt);
  ASSERT_TRUE(line.push(start, packet(1)));
  ASSERT_TRUE(line.push(start + milliseconds(5), packet(2)));
  EXPECT_EQ(line.next(), start + milliseconds(20));
  EXPECT_EQ(line.pop(start + milliseconds(19)), std::nullopt);
  EXPECT_EQ(line.pop(start + milliseconds(20)), packet(1));
  EXPECT_EQ(line.pop(start + milliseconds(20)), std::nullopt);
  EXPECT_EQ(line.next(), start + milliseconds(25));
  EXPECT_EQ(line.pop(start + milliseconds(40)), packet(2));
  EXPECT_EQ(line.next(), std::nullopt);
}

TEST(DelayLine, LosesWhatItHasNoRoomFor) {
  DelayLine line(milliseconds(1));
  const std::vector<std::byte> quarter(DelayLine::kMaxBytes / 4);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(line.push(TimePoint{}, quarter));
  EXPECT_FALSE(line.push(TimePoint{}, packet(1)));
  ASSERT_TRUE(line.pop(TimePoint{} + milliseconds(1)));
  EXPECT_TRUE(line.push(TimePoint{}, packet(1)));
}

TEST(TokenBucket, BurstAndQueueFollowTheRate) {
  const LinkDirection slow{{}, 1'000'000, 0};
  EXPECT_EQ(burst_bytes(slow), 4U << 10);
  EXPECT_EQ(queue_bytes(slow), 64U << 10);
  const LinkDirection middle{{}, 100'000'000, 0};
  EXPECT_EQ(burst_bytes(middle), 4U << 10);
  EXPECT_EQ(queue_bytes(middle), 625'000U);
  const LinkDirection fast{{}, 1'000'000'000, 1 << 20};
  EXPECT_EQ(burst_bytes(fast), 25'000U);
  EXPECT_EQ(queue_bytes(fast), 1U << 20);
}

TEST(TokenBucket, ArgumentsForTc) {
  EXPECT_THAT(token_bucket_command("pareto0", {{}, 100'000'000, 0}),
              ElementsAre("tc", "qdisc", "replace", "dev", "pareto0", "root", "tbf", "rate",
                          "100000000bit", "burst", "4096b", "limit", "625000b"));
}

TEST(RunProgram, TellsWhatTheProgramSaid) {
  EXPECT_TRUE(run_program({"true"}));
  const auto failed = run_program({"sh", "-c", "echo no such link >&2; exit 2"});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(failed.error().message, HasSubstr("no such link"));
  const auto missing = run_program({"pareto-no-such-program"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace pareto::netem
