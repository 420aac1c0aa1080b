// Pipelines of given times, against what can be computed by hand.
#include <gtest/gtest.h>

#include "partitioner/planning/simulation/simulate.h"
#include "tests/partitioner/planning/simulation/scenarios.h"

namespace pareto::simulation {
namespace {

TEST(Deterministic, ThroughputAndResponseTimeAreThoseOfTheCostModel) {
  // L = 3 + 9 + 5 + (2 + 4) + (1 + 10) + (0.5 + 4) = 38.5 ms, B = 9 ms.
  Scenario scenario =
      chain({fixed(milliseconds(3)), fixed(milliseconds(9)), fixed(milliseconds(5))}, 1);
  PipelineClass& pipeline = scenario.pipelines[0];
  pipeline.stages[0].link = crossing(milliseconds(2), milliseconds(4));
  pipeline.stages[1].link = crossing(milliseconds(1), milliseconds(10));
  pipeline.result = crossing(microseconds(500), milliseconds(4));
  constexpr double kL = 38.5;
  constexpr double kB = 9;
  for (const int window : {1, 2, 3, 4, 5, 6, 9, 20, 60}) {
    pipeline.window = window;
    const PipelineOutcome outcome = only(scenario);
    const double response = std::max(kL, window * kB);
    EXPECT_DOUBLE_EQ(outcome.latency.least_ms, response) << window;
    EXPECT_DOUBLE_EQ(outcome.latency.most_ms, response) << window;
    EXPECT_NEAR(outcome.requests_per_s, 1000 * std::min(window / kL, 1 / kB),
                1000 * window / kL / 9000)
        << window;
    EXPECT_NEAR(outcome.in_flight, window, 1e-9);
  }
  EXPECT_EQ(only(scenario).bottleneck, "device d1");
  EXPECT_NEAR(only(scenario).bottleneck_use, 1, 1e-9);
}

TEST(Deterministic, ReceivingAndSendingTakeTheOneCore) {
  Scenario scenario = chain({fixed(milliseconds(6)), fixed(milliseconds(4))}, 12);
  Stage& stage = scenario.pipelines[0].stages[0];
  stage.receive = fixed(milliseconds(1));
  stage.send = fixed(milliseconds(2));
  EXPECT_NEAR(only(scenario).requests_per_s, 1000 / 9.0, 0.1);
  // With three cores each thread has its own.
  scenario.devices[0].cores = 3;
  EXPECT_NEAR(only(scenario).requests_per_s, 1000 / 6.0, 0.2);
  EXPECT_EQ(only(scenario).bottleneck, "stage 0");
  scenario.devices[0].speed = 0.5;
  EXPECT_NEAR(only(scenario).requests_per_s, 1000 / 12.0, 0.1);
}

TEST(Deterministic, AMessageThatFollowsSoonFindsTheStageAwake) {
  Scenario scenario = chain({fixed(milliseconds(10))}, 1);
  scenario.pipelines[0].result = crossing(Nanoseconds(0), milliseconds(6));
  scenario.pipelines[0].stages[0].busy = fixed(milliseconds(4));
  const auto per_s = [&](int window) {
    scenario.pipelines[0].window = window;
    return simulate(scenario)->pipelines[0].samples_per_s;
  };
  EXPECT_NEAR(per_s(1), 1000 / 16.0, 0.1);
  EXPECT_NEAR(per_s(4), 250, 0.5);
}

TEST(Deterministic, APartTakesWhatItTakesOfARequest) {
  Scenario scenario = chain({fixed(milliseconds(5)), fixed(milliseconds(20))}, 2);
  Stage& second = scenario.pipelines[0].stages[1];
  second.link = crossing(milliseconds(3), milliseconds(4));
  second.receive = fixed(milliseconds(1));
  second.send = fixed(milliseconds(2));
  const auto outcome = simulate(scenario);
  ASSERT_TRUE(outcome);
  const PipelineOutcome& pipeline = outcome->pipelines.at(0);
  EXPECT_NEAR(pipeline.stages[0].compute_ms, 5, 0.01);
  EXPECT_NEAR(pipeline.links[1].transfer_ms, 7, 0.01);
  EXPECT_EQ(pipeline.links[0].transfer_ms, 0);
  const StageOutcome& stage = pipeline.stages[1];
  EXPECT_GE(stage.compute_ms, 20);
  EXPECT_GE(stage.receive_ms, 1) << "it may wait for the core";
  EXPECT_GE(stage.send_ms, 2);
  const double parts = 5 + 7 + stage.receive_ms + stage.queue_ms + stage.compute_ms + stage.send_ms;
  EXPECT_NEAR(parts, pipeline.latency.mean_ms, 0.05);
}

TEST(Deterministic, WhatLeavesEarlyArrivesSoonerButNotBeforeItsTurn) {
  Scenario scenario = chain({fixed(milliseconds(5)), fixed(milliseconds(1))}, 1);
  Crossing& link = scenario.pipelines[0].stages[1].link;
  link = crossing(milliseconds(10), milliseconds(1));
  link.early = milliseconds(4);
  EXPECT_DOUBLE_EQ(simulate(scenario)->pipelines[0].latency.most_ms, 5 + 7 + 1);
  link.early = milliseconds(60);
  EXPECT_DOUBLE_EQ(simulate(scenario)->pipelines[0].latency.most_ms, 5 + 4 + 1)
      << "the link is occupied by the one before";
  scenario.pipelines[0].window = 8;
  EXPECT_NEAR(simulate(scenario)->pipelines[0].requests_per_s, 100, 0.5)
      << "it is occupied as long";
  link.early = -milliseconds(1);
  EXPECT_FALSE(simulate(scenario));
}

TEST(Deterministic, TheSlowestLinkIsTheBottleneck) {
  Scenario scenario = chain({fixed(milliseconds(2)), fixed(milliseconds(3))}, 8);
  Crossing& link = scenario.pipelines[0].stages[1].link;
  link.bytes = 125'000;
  link.condition.bits_per_second = 100'000'000;
  const PipelineOutcome outcome = only(scenario);
  EXPECT_NEAR(outcome.requests_per_s, 100, 0.2);
  EXPECT_EQ(outcome.bottleneck, "link 1");
  EXPECT_NEAR(outcome.links[1].use.mean, 1, 1e-6);
}

TEST(Deterministic, LatencyBeginsWhereTheSourceBeginsToMakeARequest) {
  Scenario scenario = chain({fixed(milliseconds(4))}, 1);
  scenario.pipelines[0].source = fixed(milliseconds(3));
  EXPECT_DOUBLE_EQ(only(scenario).latency.most_ms, 7);
}

TEST(Deterministic, PeriodicRequestsBelowTheBottleneckDoNotWait) {
  Scenario scenario = chain({fixed(milliseconds(4)), fixed(milliseconds(7))}, 0);
  scenario.pipelines[0].arrivals.kind = ArrivalKind::kPeriodic;
  scenario.pipelines[0].arrivals.period = milliseconds(8);
  scenario.requests = 0;
  scenario.duration = std::chrono::seconds(80);
  const PipelineOutcome outcome = only(scenario);
  EXPECT_EQ(outcome.latency.least_ms, 11);
  EXPECT_EQ(outcome.latency.most_ms, 11);
  EXPECT_NEAR(outcome.requests_per_s, 125, 0.02);
  EXPECT_NEAR(outcome.stages[1].computing, 7.0 / 8, 1e-4);
  EXPECT_EQ(outcome.stages[1].queue_most, 0);
}

TEST(Deterministic, ATraceOfArrivals) {
  Scenario scenario = chain({fixed(milliseconds(10))}, 0);
  Arrivals& arrivals = scenario.pipelines[0].arrivals;
  arrivals.kind = ArrivalKind::kTrace;
  // Three at once, then nothing for 100 ms: they take 10, 20 and 30 ms.
  arrivals.gaps = {milliseconds(100), Nanoseconds(0), Nanoseconds(0)};
  scenario.requests = 30'000;
  const PipelineOutcome outcome = only(scenario);
  EXPECT_NEAR(outcome.latency.mean_ms, 20, 0.01);
  EXPECT_EQ(outcome.latency.least_ms, 10);
  EXPECT_EQ(outcome.latency.most_ms, 30);
  EXPECT_NEAR(outcome.requests_per_s, 30, 0.01);
  EXPECT_EQ(outcome.stages[0].queue_most, 2);
}

TEST(Deterministic, ARateStepOfATrace) {
  // 1 MB a message: 80 ms at 100 Mbit/s, 800 ms at 10. From 30 s of each minute on it is slow.
  Scenario scenario = chain({fixed(milliseconds(1))}, 4);
  Crossing& link = scenario.pipelines[0].stages[0].link;
  link.bytes = 1'000'000;
  link.condition.bits_per_second = 100'000'000;
  plan::ConditionChange slow;
  slow.at = std::chrono::seconds(30);
  slow.bits_per_second = 10'000'000;
  link.condition.trace = {slow};
  link.condition.trace_period = std::chrono::seconds(60);
  scenario.requests = 0;
  scenario.duration = std::chrono::minutes(20);
  const PipelineOutcome outcome = only(scenario);
  EXPECT_NEAR(outcome.requests_per_s, (30 / 0.08 + 30 / 0.8) / 60, 0.01);
  EXPECT_NEAR(outcome.latency.p50_ms, 4 * 80, 1);
  EXPECT_NEAR(outcome.latency.most_ms, 4 * 800, 1);
}

TEST(Deterministic, AMediumIsShared) {
  // Five pipelines, each way 2 ms and back 1 ms: 15 ms for one request of each.
  Scenario scenario = chain({fixed(milliseconds(1))}, 4);
  scenario.devices[0].count = 5;
  MediumClass wifi;
  wifi.name = "wifi";
  wifi.condition.bits_per_second = 8'000'000;
  scenario.media.push_back(wifi);
  PipelineClass& pipeline = scenario.pipelines[0];
  pipeline.count = 5;
  pipeline.stages[0].link.media = {{0}};
  pipeline.stages[0].link.bytes = 2000;
  pipeline.result.media = {{0}};
  pipeline.result.bytes = 1000;
  PipelineOutcome outcome = only(scenario);
  EXPECT_NEAR(outcome.requests_per_s, 5 / 0.015, 0.5);
  EXPECT_NEAR(outcome.latency.mean_ms, 60, 0.1);
  EXPECT_EQ(outcome.bottleneck, "medium wifi");
  EXPECT_NEAR(outcome.bottleneck_use, 1, 1e-6);
  // A medium each, for both its links: five times as much.
  scenario.media[0].count = 5;
  outcome = only(scenario);
  EXPECT_NEAR(outcome.requests_per_s, 5 / 0.003, 2);
  EXPECT_NEAR(outcome.links[0].use.most, 1, 1e-6);
  EXPECT_NEAR(outcome.links[0].use.mean, 1, 1e-6);
}

/// Makes media of `megabits` Mbit/s.
MediumClass medium(std::string name, int count, std::uint64_t megabits) {
  MediumClass made;
  made.name = std::move(name);
  made.count = count;
  made.condition.bits_per_second = megabits * 1'000'000;
  return made;
}

TEST(Deterministic, AMessageOfTwoMediaPassesBoth) {
  // A Wi-Fi of each of five pipelines, 2 ms of each, and one uplink for all, 1 ms of each.
  Scenario scenario = chain({fixed(microseconds(100))}, 1);
  scenario.devices[0].count = 5;
  scenario.media = {medium("wifi", 1, 8), medium("uplink", 1, 16)};
  PipelineClass& pipeline = scenario.pipelines[0];
  pipeline.stages[0].link.media = {{0}, {1}};
  pipeline.stages[0].link.bytes = 2000;
  PipelineOutcome outcome = only(scenario);
  EXPECT_NEAR(outcome.latency.p50_ms, 2.1, 0.01) << "on both at the same time";
  EXPECT_EQ(outcome.links[0].medium, "wifi");
  EXPECT_NEAR(outcome.links[0].use.most, 2 / 2.1, 0.001);
  scenario.media[0].count = 5;
  pipeline.count = 5;
  pipeline.window = 4;
  outcome = only(scenario);
  EXPECT_NEAR(outcome.requests_per_s, 1000, 1);
  EXPECT_EQ(outcome.bottleneck, "medium uplink");
  // Their delays follow each other.
  scenario.media[0].condition.delay = milliseconds(50);
  scenario.media[1].condition.delay = milliseconds(30);
  pipeline.window = 1;
  EXPECT_NEAR(only(scenario).latency.p50_ms, 82.1, 0.01);
  scenario.media[0].condition.delay = scenario.media[1].condition.delay = {};
  pipeline.window = 4;
  // Of a time that was measured each has its share.
  pipeline.stages[0].link.bytes = 0;
  pipeline.stages[0].link.occupancy = fixed(milliseconds(4));
  pipeline.stages[0].link.media = {{0}, {1, 0.125}};
  outcome = only(scenario);
  EXPECT_NEAR(outcome.requests_per_s, 5 / 0.004, 2);
  EXPECT_EQ(outcome.bottleneck, "medium wifi");
}

TEST(Deterministic, WhatWaitsForAMediumKeepsNobodyFromTheNext) {
  // Messages queue for a slow Wi-Fi, each to be on the uplink for a hundredth of its time there.
  Scenario scenario = chain({fixed(milliseconds(1))}, 50);
  scenario.devices[0].count = 2;
  scenario.media = {medium("wifi", 1, 8), medium("uplink", 1, 800)};
  Crossing& slow = scenario.pipelines[0].stages[0].link;
  slow.media = {{0}, {1}};
  slow.bytes = 100'000;
  PipelineClass quick = scenario.pipelines[0];
  quick.name = "quick";
  quick.window = 1;
  quick.stages[0].link.media = {{1}};
  scenario.pipelines.push_back(quick);
  const auto outcome = simulate(scenario);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_NEAR(outcome->pipelines[0].requests_per_s, 10, 0.1);
  // 1 ms on the uplink and 1 ms to compute, but for the others' hundredth of the time.
  EXPECT_NEAR(outcome->pipelines[1].requests_per_s, 500, 5);
}

TEST(Deterministic, AShareOfACoreIsUsedAtOnceAndThenWaitedFor) {
  // 2 ms of every 10: a request of 5 ms takes two periods and a millisecond, and more requests in
  // flight no more than a fifth of a core.
  Scenario scenario = chain({fixed(milliseconds(5))}, 1);
  scenario.devices[0].quota = milliseconds(2);
  scenario.devices[0].period = milliseconds(10);
  PipelineOutcome outcome = only(scenario);
  EXPECT_NEAR(outcome.requests_per_s, 40, 0.1);
  scenario.pipelines[0].window = 4;
  outcome = only(scenario);
  EXPECT_NEAR(outcome.requests_per_s, 40, 0.1);
  EXPECT_NEAR(outcome.latency.mean_ms, 100, 0.1);
  EXPECT_NEAR(outcome.bottleneck_use, 1, 0.001);
  // One that comes to an idle device: two waits, the first of them 8 ms less what has passed of its
  // period.
  scenario.pipelines[0].arrivals.kind = ArrivalKind::kPoisson;
  scenario.pipelines[0].arrivals.rate_per_s = 0.1;
  outcome = only(scenario);
  EXPECT_NEAR(outcome.latency.least_ms, 13, 0.01);
  EXPECT_NEAR(outcome.latency.p50_ms, 17, 0.3);
  EXPECT_NEAR(outcome.latency.p90_ms, 21, 0.1);
  // Work of one period's share takes as long as without any where it comes to an idle device early
  // in a period.
  scenario.pipelines[0].stages[0].compute = fixed(milliseconds(1));
  EXPECT_NEAR(only(scenario).latency.p50_ms, 1, 0.01);
}

}  // namespace
}  // namespace pareto::simulation
