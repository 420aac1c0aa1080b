// What needs neither root nor a network.
#include <gmock/gmock.h>

#include "netem/delay_line.h"
#include "netem/run_program.h"
#include "netem/token_bucket.h"
#include "netem/trace.h"

namespace pareto::netem {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::byte> packet(int number) { return {std::byte(number)}; }

TEST(DelayLine, EveryPacketLeavesAfterItsDelay) {
  DelayLine line;
  const TimePoint start{};
  EXPECT_EQ(line.next(), std::nullopt);
  ASSERT_TRUE(line.push(start, milliseconds(20), packet(1)));
  ASSERT_TRUE(line.push(start + milliseconds(5), milliseconds(20), packet(2)));
  EXPECT_EQ(line.next(), start + milliseconds(20));
  EXPECT_EQ(line.pop(start + milliseconds(19)), std::nullopt);
  EXPECT_EQ(line.pop(start + milliseconds(20)), packet(1));
  EXPECT_EQ(line.pop(start + milliseconds(20)), std::nullopt);
  EXPECT_EQ(line.next(), start + milliseconds(25));
  EXPECT_EQ(line.pop(start + milliseconds(40)), packet(2));
  EXPECT_EQ(line.next(), std::nullopt);
}

TEST(DelayLine, PacketsKeepTheirOrderUnlessOneOvertakes) {
  DelayLine line;
  const TimePoint start{};
  ASSERT_TRUE(line.push(start, milliseconds(20), packet(1)));
  ASSERT_TRUE(line.push(start + milliseconds(1), milliseconds(5), packet(2)));
  ASSERT_TRUE(line.push_first(start + milliseconds(2), packet(3)));
  EXPECT_EQ(line.pop(start + milliseconds(2)), packet(3));
  EXPECT_EQ(line.pop(start + milliseconds(19)), std::nullopt);
  EXPECT_EQ(line.pop(start + milliseconds(20)), packet(1));
  EXPECT_EQ(line.pop(start + milliseconds(20)), packet(2));
}

TEST(DelayLine, LosesWhatItHasNoRoomFor) {
  DelayLine line;
  const std::vector<std::byte> quarter(DelayLine::kMaxBytes / 4);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(line.push(TimePoint{}, milliseconds(1), quarter));
  EXPECT_FALSE(line.push(TimePoint{}, milliseconds(1), packet(1)));
  EXPECT_FALSE(line.push_first(TimePoint{}, packet(1)));
  ASSERT_TRUE(line.pop(TimePoint{} + milliseconds(1)));
  EXPECT_TRUE(line.push(TimePoint{}, milliseconds(1), packet(1)));
}

TEST(Trace, WithoutOneNothingChanges) {
  plan::LinkDirection direction;
  direction.delay = milliseconds(3);
  direction.bits_per_second = 1'000'000;
  const Trace trace(direction);
  EXPECT_FALSE(trace.changes_rate());
  const Trace::State state = trace.at(std::chrono::hours(1));
  EXPECT_EQ(state.delay, milliseconds(3));
  EXPECT_EQ(state.bits_per_second, 1'000'000U);
  EXPECT_EQ(state.until, std::nullopt);
}

TEST(Trace, ARowHoldsUntilTheNextAndAPeriodBeginsAnew) {
  plan::LinkDirection direction;
  direction.delay = milliseconds(3);
  direction.trace = {{milliseconds(10), milliseconds(5), std::nullopt},
                     {milliseconds(20), std::nullopt, 1'000'000}};
  direction.trace_period = milliseconds(30);
  const Trace trace(direction);
  EXPECT_TRUE(trace.changes_rate());
  struct Expected {
    int at;
    int delay;
    std::uint64_t rate;
    int until;
  };
  const Expected all[] = {{0, 3, 0, 10},          {9, 3, 0, 10},     {10, 5, 0, 20},
                          {25, 5, 1'000'000, 30}, {30, 3, 0, 40},    {44, 5, 0, 50},
                          {59, 5, 1'000'000, 60}, {3009, 3, 0, 3010}};
  for (const Expected& expected : all) {
    const Trace::State state = trace.at(milliseconds(expected.at));
    EXPECT_EQ(state.delay, milliseconds(expected.delay)) << expected.at;
    EXPECT_EQ(state.bits_per_second, expected.rate) << expected.at;
    EXPECT_EQ(state.until, milliseconds(expected.until)) << expected.at;
  }
  direction.trace_period = {};
  EXPECT_EQ(Trace(direction).at(milliseconds(25)).until, std::nullopt);
}

TEST(Trace, BeforeItsStartIsAsAtFirst) {
  plan::LinkDirection direction;
  direction.delay = milliseconds(3);
  direction.trace = {{milliseconds(10), milliseconds(5), std::nullopt}};
  for (const milliseconds period : {milliseconds(0), milliseconds(30)}) {
    direction.trace_period = period;
    for (const Nanoseconds since : {Nanoseconds(-1), Nanoseconds(milliseconds(-70))}) {
      const Trace::State state = Trace(direction).at(since);
      EXPECT_EQ(state.delay, milliseconds(3));
      EXPECT_EQ(state.until, milliseconds(10));
    }
  }
}

TEST(TokenBucket, BurstAndQueueFollowTheRate) {
  plan::LinkDirection direction;
  direction.bits_per_second = 1'000'000;
  EXPECT_EQ(burst_bytes(direction), 4U << 10);
  EXPECT_EQ(queue_bytes(direction), 64U << 10);
  direction.bits_per_second = 100'000'000;
  EXPECT_EQ(burst_bytes(direction), 6'250U);
  EXPECT_EQ(queue_bytes(direction), 625'000U);
  direction.bits_per_second = 1'000'000'000;
  direction.queue_bytes = 1 << 20;
  EXPECT_EQ(burst_bytes(direction), 62'500U);
  EXPECT_EQ(queue_bytes(direction), 1U << 20);
}

TEST(TokenBucket, ArgumentsForTc) {
  plan::LinkDirection direction;
  direction.bits_per_second = 100'000'000;
  EXPECT_THAT(token_bucket_command("pareto0", direction),
              ElementsAre("tc", "qdisc", "replace", "dev", "pareto0", "root", "tbf", "rate",
                          "100000000bit", "burst", "6250b", "limit", "625000b"));
}

TEST(RunProgram, TellsWhatTheProgramSaid) {
  EXPECT_TRUE(run_program({"true"}));
  const auto failed = run_program({"sh", "-c", "echo no such link >&2; exit 2"});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(failed.error().message, HasSubstr("no such link"));
  const auto missing = run_program({"pareto-no-such-program"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kUnavailable);
}

TEST(RunProgram, ReturnsWhatIsPrintedWhileTheOtherStreamIsFull) {
  const auto printed =
      run_program_for_output({"sh", "-c", "head -c 300000 /dev/zero >&2; echo done"});
  ASSERT_TRUE(printed) << printed.error().message;
  EXPECT_EQ(*printed, "done\n");
  const auto too_much = run_program_for_output({"head", "-c", "2000000", "/dev/zero"});
  ASSERT_FALSE(too_much);
  EXPECT_EQ(too_much.error().code, ErrorCode::kExhausted);
}

}  // namespace
}  // namespace pareto::netem
