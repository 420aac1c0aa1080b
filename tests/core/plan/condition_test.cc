#include "core/plan/condition.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/base/file.h"
#include "core/plan/mahimahi.h"

namespace pareto::plan {
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
  const LinkDirection forward{.delay = milliseconds(20), .bits_per_second = 100'000'000};
  EXPECT_EQ(condition->forward, forward);
  LinkDirection backward = forward;
  backward.bits_per_second = 512'000;
  backward.queue_bytes = 64 << 10;
  EXPECT_EQ(condition->backward, backward);
}

TEST(Condition, PacketsMayFareDifferently) {
  const auto condition = parse_condition(
      "delay: 10ms\njitter: 2ms\njitter_correlation: 25%\njitter_shape: pareto\n"
      "reorder: 1%\nduplicate: 0.5%\nloss: 2%\n",
      "bad.yaml");
  ASSERT_TRUE(condition) << condition.error().message;
  const LinkDirection expected{
      .delay = milliseconds(10),
      .jitter = {milliseconds(2), 0.25, JitterShape::kPareto},
      .loss = 0.02,
      .reorder = 0.01,
      .duplicate = 0.005,
  };
  EXPECT_EQ(condition->forward, expected);
  EXPECT_EQ(condition->backward, expected);
  EXPECT_TRUE(expected.varies_by_packet());
  EXPECT_FALSE(LinkDirection{}.varies_by_packet());
}

TEST(Condition, LossesMayComeTogetherAndOneWayOnly) {
  const auto condition = parse_condition(
      "forward:\n  burst_loss: {enter: 1%, leave: 25%, when_bad: 50%}\n", "burst.yaml");
  ASSERT_TRUE(condition) << condition.error().message;
  EXPECT_EQ(condition->forward.burst_loss, (BurstLoss{0.01, 0.25, 0.5, 0}));
  EXPECT_FALSE(condition->backward.burst_loss);
}

TEST(Condition, ATraceChangesItOverTime) {
  const auto condition = parse_condition(
      "delay: 5ms\nrate: 100mbit\ntrace_period: 1min\n"
      "trace:\n  - {at: 10s, rate: 10mbit}\n  - {at: 20s, delay: 50ms, rate: 1mbit}\n",
      "trace.yaml");
  ASSERT_TRUE(condition) << condition.error().message;
  ASSERT_EQ(condition->forward.trace.size(), 2U);
  EXPECT_EQ(condition->forward.trace[0],
            (ConditionChange{std::chrono::seconds(10), std::nullopt, 10'000'000}));
  EXPECT_EQ(condition->forward.trace[1],
            (ConditionChange{std::chrono::seconds(20), milliseconds(50), 1'000'000}));
  EXPECT_EQ(condition->backward.trace_period, std::chrono::minutes(1));
}

TEST(Condition, WhatCannotBeIsToldWhereItStands) {
  const std::pair<const char*, const char*> cases[] = {
      {"delay: 4ms\njitter: 3ms", "x.yaml:2: \"jitter\": is more than half the delay"},
      {"delay: 4ms\njitter: 5000000000s", "\"jitter\": is more than half the delay"},
      {"delay: 4ms\nforward:\n  jitter: 3ms", "x.yaml:3: \"forward.jitter\": is more than half"},
      {"jitter_shape: round", "\"jitter_shape\": is one of normal, uniform, pareto"},
      {"loss: 0.5", "\"0.5\" is not a quantity such as 1%"},
      {"loss: 1%\nburst_loss: {enter: 1%}", "x.yaml:1: \"loss\": stands next to burst_loss"},
      {"burst_loss: {leave: 1%}", "\"burst_loss.enter\": is needed"},
      {"burst_loss: {enter: 1%, leave: 0%}", "would stay so"},
      {"reorder: 1%", "\"reorder\": needs a delay"},
      {"trace: [{rate: 1mbit}]", "is needed: when the row begins"},
      {"trace: [{at: 1s}]", "changes neither delay nor rate"},
      {"trace: [{at: 1s, rate: 0}]", "is not from 8kbit to 100gbit"},
      {"trace: [{at: 2s, delay: 1ms}, {at: 2s, delay: 2ms}]", "does not come after the row before"},
      {"trace_period: 1s\ntrace: [{at: 2s, delay: 1ms}]", "ends before the last row"},
      {"trace_period: 1s", "ends before the last row"},
      {"delay: 20ms\njitter: 5ms\ntrace: [{at: 1s, delay: 6ms}]", "is more than half the delay"},
  };
  for (const auto& [text, sentence] : cases) {
    const auto condition = parse_condition(text, "x.yaml");
    ASSERT_FALSE(condition) << text;
    EXPECT_THAT(condition.error().message, HasSubstr(sentence));
    // Told once, though both directions have it.
    EXPECT_EQ(std::ranges::count(condition.error().message, '\n'), 0) << condition.error().message;
  }
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
  EXPECT_GE(samples, 9U);
}

TEST(Condition, ReadsTheSameFromItsText) {
  std::vector<Condition> conditions{{}};
  for (const auto& file :
       std::filesystem::directory_iterator(PARETO_SOURCE_DIR "/configs/network")) {
    conditions.push_back(read_condition(file.path()).value());
  }
  conditions.push_back(
      parse_condition("delay: 10ms\njitter: 1234567ns\njitter_correlation: 33.3%\n"
                      "jitter_shape: uniform\nreorder: 0.1%\nduplicate: 0.7%\nrate: 1mbit\n"
                      "queue: 70KiB\nforward: {loss: 0.3%}\n"
                      "backward: {burst_loss: {enter: 1%, leave: 7%, when_good: 0.1%}}\n"
                      "trace: [{at: 1s, rate: 2mbit}, {at: 2s, delay: 20ms}]\n"
                      "trace_period: 3s\n",
                      "all")
          .value());
  for (const Condition& condition : conditions) {
    const auto again = parse_condition(to_text(condition), "text");
    ASSERT_TRUE(again) << again.error().message << to_text(condition);
    EXPECT_EQ(*again, condition) << to_text(condition);
  }
}

TEST(Mahimahi, BecomesRatesOverSteps) {
  // 2 packets in the first 100 ms, none in the second, 1 in the 50 ms after, which it repeats from.
  const RateTrace trace = parse_mahimahi("0\n99\n250\n", "lte.up").value();
  EXPECT_EQ(trace.period, milliseconds(250));
  ASSERT_EQ(trace.rows.size(), 3U);
  EXPECT_EQ(trace.rows[0].bits_per_second, 240'000U);
  EXPECT_EQ(trace.rows[1].at, milliseconds(100));
  EXPECT_EQ(trace.rows[1].bits_per_second, 8'000U);
  EXPECT_EQ(trace.rows[2].at, milliseconds(200));
  EXPECT_EQ(trace.rows[2].bits_per_second, 240'000U);
}

TEST(Mahimahi, SteadyTracesAreOneRate) {
  std::string text;
  for (int ms = 1; ms <= 1000; ++ms) text += std::to_string(ms) + "\n";
  const RateTrace trace = parse_mahimahi(text, "12mbit").value();
  EXPECT_EQ(trace.period, std::chrono::seconds(1));
  // A packet on the border of two steps is in the later one: 99, 100, …, 101.
  EXPECT_EQ(trace.rows.front().bits_per_second, 99U * 12'000 * 10);
  EXPECT_EQ(trace.rows[1].bits_per_second, 12'000'000U);
  EXPECT_EQ(trace.rows.back().bits_per_second, 101U * 12'000 * 10);
}

TEST(Mahimahi, OtherFilesAreRefusedWithTheirLine) {
  EXPECT_THAT(parse_mahimahi("1\nx\n", "t").error().message, HasSubstr("t:2:"));
  EXPECT_THAT(parse_mahimahi("5\n4\n", "t").error().message, HasSubstr("t:2:"));
  EXPECT_THAT(parse_mahimahi("-1\n", "t").error().message, HasSubstr("t:1:"));
  EXPECT_THAT(parse_mahimahi("99999999999\n", "t").error().message, HasSubstr("t:1:"));
  EXPECT_THAT(parse_mahimahi("", "t").error().message, HasSubstr("no duration"));
  EXPECT_THAT(parse_mahimahi("0\n0\n", "t").error().message, HasSubstr("no duration"));
}

TEST(Mahimahi, IsNamedInAConditionsFile) {
  const auto folder = TemporaryFolder::create("condition-test").value();
  const auto file = folder.path() / "train.yaml";
  std::ofstream(folder.path() / "train.up") << "50\n100\n";
  std::ofstream(file) << "delay: 20ms\nforward: {mahimahi: train.up}\n";
  const Condition condition = read_condition(file).value();
  EXPECT_EQ(condition.forward.bits_per_second, 240'000U);
  EXPECT_EQ(condition.forward.trace_period, milliseconds(100));
  EXPECT_EQ(condition.forward.delay, milliseconds(20));
  EXPECT_EQ(condition.backward.bits_per_second, 0U);

  std::ofstream(file) << "mahimahi: train.up\nrate: 5mbit\n";
  EXPECT_THAT(read_condition(file).error().message, HasSubstr("leave out the others"));
  std::ofstream(file) << "mahimahi: gone.up\n";
  EXPECT_THAT(read_condition(file).error().message, HasSubstr("gone.up"));
  EXPECT_THAT(parse_condition("mahimahi: /etc/passwd\n", "peer").error().message,
              HasSubstr("there are none here"));
}

}  // namespace
}  // namespace pareto::plan
