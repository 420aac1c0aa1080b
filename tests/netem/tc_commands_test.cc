// What is asked of tc: no kernel.
#include "netem/tc_commands.h"

#include <gmock/gmock.h>

#include "core/base/text.h"

namespace pareto::netem {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

std::vector<std::string> lines(const plan::LinkDirection& direction) {
  std::vector<std::string> all;
  for (const TcCommand& command : tc_commands("eth1", direction)) all.push_back(join(command, " "));
  return all;
}

std::string netem_line(const plan::LinkDirection& direction) {
  return join(netem_arguments(direction), " ");
}

plan::LinkDirection delayed() {
  plan::LinkDirection direction;
  direction.delay = milliseconds(20);
  return direction;
}

TEST(TcCommands, NothingAskedForIsTheKernelsOwnQueue) {
  EXPECT_FALSE(does_something({}));
  EXPECT_THAT(lines({}), ElementsAre("tc qdisc del dev eth1 root"));
}

TEST(TcCommands, ARateAloneTakesNoNetem) {
  plan::LinkDirection direction;
  direction.bits_per_second = 10'000'000;
  EXPECT_FALSE(needs_netem(direction));
  EXPECT_THAT(lines(direction),
              ElementsAre("tc qdisc replace dev eth1 root handle ed00: tbf rate 10000000bit "
                          "burst 4096b limit 65536b"));
}

TEST(TcCommands, ABucketHoldsTheLargestPacket) {
  plan::LinkDirection direction;
  direction.bits_per_second = 10'000'000;
  EXPECT_THAT(join(tc_commands("eth1", direction, 9014).at(0), " "), HasSubstr("burst 9014b"));
}

TEST(TcCommands, DelayAndRateAreNetemAndItsChild) {
  plan::LinkDirection direction = delayed();
  direction.bits_per_second = 10'000'000;
  // 25,000 bytes on their way and 65,536 that wait, in packets of 64.
  EXPECT_THAT(lines(direction),
              ElementsAre("tc qdisc replace dev eth1 root handle ed01: netem limit 1415 delay "
                          "20000us rate 1tbit",
                          "tc qdisc replace dev eth1 parent ed01:1 tbf rate 10000000bit burst "
                          "4096b limit 65536b"));
}

TEST(TcCommands, WithoutARateOneThatWasThereIsReplaced) {
  EXPECT_THAT(lines(delayed()),
              ElementsAre("tc qdisc replace dev eth1 root handle ed01: netem limit 200000 delay "
                          "20000us rate 1tbit",
                          "tc qdisc replace dev eth1 parent ed01:1 pfifo limit 200000"));
}

TEST(TcCommands, ALimitHoldsWhatIsOnItsWay) {
  plan::LinkDirection direction = delayed();
  direction.bits_per_second = 1'000'000'000;
  // 2.5 MB on their way and 6.25 MB that wait; netem's own 1000 packets would be 1.5 MB at most.
  EXPECT_EQ(netem_limit(direction), 136'719U);
  direction.bits_per_second = 8'000;
  EXPECT_EQ(netem_limit(direction), 1'025U);
  direction.bits_per_second = 100'000'000'000;
  direction.delay = seconds(60);
  EXPECT_EQ(netem_limit(direction), 200'000U);
}

TEST(TcCommands, JitterIsAStandardDeviationInEveryShape) {
  plan::LinkDirection direction = delayed();
  direction.jitter = {milliseconds(5), 0, plan::JitterShape::kNormal};
  EXPECT_THAT(netem_line(direction), HasSubstr("delay 20000us 5000us 0% distribution normal rate"));
  direction.jitter = {milliseconds(5), 0.25, plan::JitterShape::kUniform};
  EXPECT_THAT(netem_line(direction), HasSubstr("delay 20000us 8660.254us 25% rate"));
  direction.jitter = {milliseconds(5), 0, plan::JitterShape::kPareto};
  EXPECT_THAT(netem_line(direction),
              HasSubstr("delay 20000us 6099.793us 0% distribution pareto rate"));
}

TEST(TcCommands, JitterFitsNetemsThirtyTwoBits) {
  plan::LinkDirection direction;
  direction.delay = seconds(60);
  direction.jitter.deviation = seconds(30);
  EXPECT_THAT(netem_line(direction), HasSubstr(" 2147000us "));
}

TEST(TcCommands, AShapeHasAQdiscOfItsOwn) {
  std::vector<std::string> handles;
  for (const plan::JitterShape shape :
       {plan::JitterShape::kNormal, plan::JitterShape::kUniform, plan::JitterShape::kPareto}) {
    plan::LinkDirection direction = delayed();
    direction.jitter = {milliseconds(5), 0, shape};
    handles.push_back(tc_commands("eth1", direction).at(0).at(7));
  }
  EXPECT_THAT(handles, ElementsAre("ed01:", "ed02:", "ed03:"));
  for (const std::string& handle : handles) EXPECT_TRUE(is_our_handle(handle));
  EXPECT_TRUE(is_our_handle("ed00:"));
  EXPECT_FALSE(is_our_handle("0:"));
  EXPECT_FALSE(is_our_handle("8001:"));
}

TEST(TcCommands, LossesByThemselvesAndInBursts) {
  plan::LinkDirection direction;
  direction.loss = 0.001;
  EXPECT_THAT(netem_line(direction), HasSubstr("delay 0us loss random 0.1% rate"));
  direction.loss = 0;
  direction.burst_loss =
      plan::BurstLoss{.enter = 0.01, .leave = 0.25, .when_bad = 0.9, .when_good = 0};
  EXPECT_THAT(netem_line(direction), HasSubstr("loss gemodel 1% 25% 90% 0% rate"));
}

TEST(TcCommands, ToOvertakeTakesADelay) {
  plan::LinkDirection direction;
  direction.reorder = 0.01;
  direction.duplicate = 0.02;
  EXPECT_THAT(netem_line(direction), EndsWith("delay 0us duplicate 2% rate 1tbit"));
  direction.delay = milliseconds(1);
  EXPECT_THAT(netem_line(direction), EndsWith("duplicate 2% reorder 1% rate 1tbit"));
}

TEST(TcCommands, ATraceThatEverDelaysTakesNetemFromTheStart) {
  plan::LinkDirection direction;
  direction.bits_per_second = 1'000'000;
  direction.trace = {{seconds(1), std::nullopt, 2'000'000}};
  EXPECT_FALSE(needs_netem(direction));
  direction.trace.push_back({seconds(2), milliseconds(5), std::nullopt});
  EXPECT_TRUE(needs_netem(direction));
  EXPECT_THAT(lines(direction).at(0), HasSubstr("netem limit"));
}

TEST(TcCommands, ATraceThatBeginsWithoutARateWaitsForOne) {
  plan::LinkDirection direction;
  direction.trace = {{seconds(1), std::nullopt, 2'000'000}};
  EXPECT_TRUE(does_something(direction));
  EXPECT_THAT(lines(direction), ElementsAre("tc qdisc replace dev eth1 root handle ed04: pfifo"));
}

TEST(TcCommands, WhatComesInGoesThroughAnotherDevice) {
  EXPECT_EQ(join(ingress_commands("eth1", "ifb0").at(1), " "),
            "tc filter add dev eth1 parent ffff: protocol all prio 1 u32 match u32 0 0 action "
            "mirred egress redirect dev ifb0");
}

}  // namespace
}  // namespace pareto::netem
