#include "core/plan/condition.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace pareto {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

TEST(Condition, AnEmptyFileDoesNothingToPackets) {
  const auto condition = parse_condition("", "none.yaml");
  ASSERT_TRUE(condition) << condition.error().message;
  EXPECT_EQ(*condition, Condition{});
}

TEST(Condition, KeysHoldForBothDirectionsUnlessOneIsNamed) {
  const auto condition = parse_condition(
      "delay: 20ms\nrate: 100mbit\nbackward:\n  rate: 512kbit\n  queue: 64KiB\n", "dsl.yaml");
  ASSERT_TRUE(condition) << condition.error().message;
  EXPECT_EQ(condition->forward, (LinkDirection{milliseconds(20), 100'000'000, 0}));
  EXPECT_EQ(condition->backward, (LinkDirection{milliseconds(20), 512'000, 64 << 10}));
}

TEST(Condition, EveryProblemIsTold) {
  const auto condition = parse_condition(
      "delay: 2min\nrate: 100\nforward:\n  queu: 1MiB\n  queue: 1B\nbackward:\n  rate: 1bit\n",
      "bad.yaml");
  ASSERT_FALSE(condition);
  EXPECT_EQ(condition.error().code, ErrorCode::kInvalidArgument);
  const std::string& text = condition.error().message;
  EXPECT_THAT(text, HasSubstr("bad.yaml:1: \"delay\": is longer than 60s"));
  EXPECT_THAT(text, HasSubstr("bad.yaml:2: \"rate\": \"100\" is not a quantity such as 100mbit"));
  EXPECT_THAT(text, HasSubstr("bad.yaml:4: unknown key \"forward.queu\" (did you mean queue"));
  EXPECT_THAT(text, HasSubstr("bad.yaml:5: \"forward.queue\": is not from 4KiB to 1GiB"));
  EXPECT_THAT(text, HasSubstr("bad.yaml:7: \"backward.rate\": 1bit is not from 8kbit"));
}

TEST(Condition, AQueueNeedsARate) {
  const auto both = parse_condition("queue: 1MiB\n", "q.yaml");
  ASSERT_FALSE(both);
  EXPECT_THAT(both.error().message, HasSubstr("q.yaml:1: \"queue\": needs a rate"));
  const auto one = parse_condition("rate: 1mbit\nforward:\n  queue: 1MiB\n", "q.yaml");
  EXPECT_TRUE(one) << one.error().message;
}

TEST(Condition, EverySampleParses) {
  std::size_t samples = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(PARETO_SOURCE_DIR "/configs/network")) {
    const auto condition = read_condition(entry.path());
    EXPECT_TRUE(condition) << condition.error().message;
    ++samples;
  }
  EXPECT_GE(samples, 1U);
}

}  // namespace
}  // namespace pareto
