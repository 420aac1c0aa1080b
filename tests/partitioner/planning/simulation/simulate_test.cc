#include "partitioner/planning/simulation/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/planning/simulation/scenarios.h"

namespace pareto::simulation {
namespace {

Scenario mixed_fleet(std::uint64_t seed) {
  Scenario scenario = chain({varying(milliseconds(2), 0.3), varying(milliseconds(3), 0.5)}, 3);
  scenario.seed = seed;
  scenario.devices[0].count = 20;
  scenario.devices[1].count = 7;
  scenario.pipelines[0].count = 20;
  Crossing& link = scenario.pipelines[0].stages[1].link;
  link.bytes = 60'000;
  link.condition.bits_per_second = 50'000'000;
  link.condition.delay = milliseconds(5);
  link.condition.jitter.deviation = milliseconds(1);
  link.condition.loss = 0.001;
  return scenario;
}

TEST(Simulate, TheSameSeedIsTheSameRun) {
  const auto figures = [](const Scenario& scenario) {
    const auto outcome = simulate(scenario);
    EXPECT_TRUE(outcome);
    const PipelineOutcome& pipeline = outcome->pipelines[0];
    return std::tuple(outcome->simulated, outcome->events, pipeline.latency.mean_ms,
                      pipeline.latency.p99_ms, outcome->devices[1].use.most);
  };
  EXPECT_EQ(figures(mixed_fleet(1)), figures(mixed_fleet(1)));
  EXPECT_NE(figures(mixed_fleet(1)), figures(mixed_fleet(2)));
}

TEST(Simulate, AStrangerElsewhereChangesNothing) {
  Scenario scenario = mixed_fleet(1);
  scenario.requests = 0;
  scenario.duration = std::chrono::seconds(10);
  const double alone = only(scenario).latency.mean_ms;
  Scenario other = chain({varying(milliseconds(1), 0.5)}, 2);
  other.pipelines[0].stages[0].device = 2;
  scenario.devices.push_back(other.devices[0]);
  scenario.pipelines.push_back(other.pipelines[0]);
  EXPECT_EQ(only(scenario).latency.mean_ms, alone);
}

TEST(Simulate, StagesTakeDevicesInTurn) {
  // Ten pipelines on four devices: two have three of them, which take their turn.
  Scenario scenario = chain({fixed(milliseconds(1))}, 1);
  scenario.pipelines[0].count = 10;
  scenario.pipelines[0].stages[0].link = crossing(Nanoseconds(0), milliseconds(1));
  scenario.devices[0].count = 4;
  scenario.requests = 0;
  scenario.duration = std::chrono::seconds(10);
  const auto outcome = simulate(scenario);
  ASSERT_TRUE(outcome);
  // Of two in turn each takes 1 ms and 1 ms to come back: the device is always at work, as it is
  // with three.
  EXPECT_NEAR(outcome->devices[0].use.mean, 1, 0.001);
  EXPECT_NEAR(outcome->pipelines[0].requests_per_s, 4000, 4);
  EXPECT_NEAR(outcome->pipelines[0].latency.p50_ms, 2, 1.01);
}

TEST(Simulate, MeasuresWhatComesAfterTheWarmUp) {
  // Slow for the first 5 s only.
  Scenario scenario = chain({fixed(microseconds(1))}, 1);
  Crossing& link = scenario.pipelines[0].stages[0].link;
  link.bytes = 1000;
  link.condition.bits_per_second = 80'000;
  plan::ConditionChange fast;
  fast.at = std::chrono::seconds(5);
  fast.bits_per_second = 8'000'000;
  link.condition.trace = {fast};
  scenario.requests = 0;
  scenario.duration = std::chrono::seconds(20);
  EXPECT_GT(only(scenario).latency.most_ms, 99);
  scenario.warm_up = std::chrono::seconds(6);
  EXPECT_LT(only(scenario).latency.most_ms, 1.01);
  EXPECT_NEAR(only(scenario).requests_per_s, 1 / 1.001e-3, 0.1);
}

TEST(Simulate, WarmsUpForATenthOfWhatIsOverFirst) {
  // A request takes 10 ms: a thousand of them 10 s.
  Scenario scenario = chain({fixed(milliseconds(10))}, 1);
  scenario.requests = 1000;
  const auto expect = [&](Nanoseconds duration, Nanoseconds simulated, Nanoseconds measured) {
    scenario.duration = duration;
    const auto outcome = simulate(scenario);
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->simulated, simulated);
    EXPECT_EQ(outcome->measured, measured);
    EXPECT_NEAR(outcome->pipelines[0].latency.p50_ms, 10, 0.01);
    EXPECT_NEAR(outcome->pipelines[0].requests_per_s, 100, 1);
  };
  expect(std::chrono::seconds(1000), std::chrono::seconds(10), std::chrono::seconds(9));
  expect(std::chrono::seconds(2), std::chrono::seconds(2), milliseconds(1800));
  scenario.requests = 3;  // too few for a tenth
  expect(std::chrono::seconds(1000), milliseconds(30), milliseconds(30));
}

TEST(Simulate, FailsWhereNothingWasMeasured) {
  Scenario scenario = chain({fixed(milliseconds(10))}, 1);
  scenario.requests = 100;  // done after a second
  scenario.warm_up = std::chrono::seconds(5);
  const auto warm = simulate(scenario);
  ASSERT_FALSE(warm);
  EXPECT_EQ(warm.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(warm.error().message,
              testing::AllOf(testing::HasSubstr("1 s"), testing::HasSubstr("shorter warm_up")));
  scenario.warm_up.reset();
  scenario.duration = milliseconds(9);
  EXPECT_EQ(simulate(scenario).error().code, ErrorCode::kInvalidArgument);
}

TEST(Simulate, StopsWhereItIsToldTo) {
  Scenario scenario = mixed_fleet(1);
  scenario.requests = 100'000'000;
  int reports = 0;
  const auto outcome = simulate(scenario, [&](double share) {
    EXPECT_GT(share, 0);
    return ++reports < 2;
  });
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->stopped);
  EXPECT_EQ(reports, 2);
  EXPECT_LT(outcome->requests, 10'000'000);
}

}  // namespace
}  // namespace pareto::simulation
