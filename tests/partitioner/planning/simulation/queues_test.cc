// Queues, against the textbook, Little's law and the figures of other simulations.
#include <gtest/gtest.h>

#include "partitioner/planning/simulation/simulate.h"
#include "tests/partitioner/planning/simulation/scenarios.h"

namespace pareto::simulation {
namespace {

/// Erlang's C: the chance that one waits, of `servers` with so much work offered.
double erlang_c(int servers, double offered) {
  double term = 1;
  double sum = 1;
  for (int i = 1; i < servers; ++i) sum += term *= offered / i;
  const double last = term * offered / servers / (1 - offered / servers);
  return last / (sum + last);
}

TEST(Queues, MM1) {
  // Mean 1 ms at 700 requests/s: 1 / (mu - lambda) = 3.333 ms.
  const PipelineOutcome outcome =
      only(open_queue(varying(milliseconds(1), 0, Shape::kExponential), 700, 2'000'000));
  EXPECT_NEAR(outcome.latency.mean_ms, 1 / 0.3, 0.02 / 0.3);
  // The response time is exponential.
  EXPECT_NEAR(outcome.latency.p50_ms, std::log(2) / 0.3, 0.02 / 0.3);
  EXPECT_NEAR(outcome.latency.p99_ms, std::log(100) / 0.3, 0.03 * std::log(100) / 0.3);
  EXPECT_NEAR(outcome.stages[0].computing, 0.7, 0.005);
}

TEST(Queues, MD1) {
  // Pollaczek and Khinchine: 1 + 0.7 / (2 * 0.3) ms.
  const PipelineOutcome outcome = only(open_queue(fixed(milliseconds(1)), 700, 2'000'000));
  EXPECT_NEAR(outcome.latency.mean_ms, 1 + 0.7 / 0.6, 0.02);
}

TEST(Queues, MG1) {
  // The same with a variance: 1 + 0.7 * (1 + 0.25) / (2 * 0.3).
  const PipelineOutcome outcome = only(open_queue(varying(milliseconds(1), 0.5), 700, 2'000'000));
  EXPECT_NEAR(outcome.latency.mean_ms, 1 + 0.7 * 1.25 / 0.6, 0.03);
}

TEST(Queues, MMcOnTheCoresOfADevice) {
  // There are enough pipelines that hardly ever two requests of one meet: 3 cores, 2.4 of them
  // busy.
  Scenario scenario = open_queue(varying(milliseconds(1), 0, Shape::kExponential), 1.2, 2'000'000);
  scenario.pipelines[0].count = 2000;
  scenario.devices[0].cores = 3;
  const auto outcome = simulate(scenario);
  ASSERT_TRUE(outcome);
  const double wait = erlang_c(3, 2.4) / (3 - 2.4);
  EXPECT_NEAR(outcome->pipelines[0].latency.mean_ms, 1 + wait, 0.03);
  EXPECT_NEAR(outcome->devices[0].use.mean, 0.8, 0.005);
}

TEST(Queues, AsManyRequestsComeInAShortTimeAsTheRateSays) {
  // One to each pipeline, on average: it is the first gaps that count.
  Scenario scenario = open_queue(fixed(microseconds(1)), 1, 0);
  scenario.duration = std::chrono::seconds(1);
  scenario.warm_up = Nanoseconds(0);
  scenario.devices[0].count = 10'000;
  scenario.pipelines[0].count = 10'000;
  const auto outcome = simulate(scenario);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_NEAR(static_cast<double>(outcome->requests), 10'000, 400);
}

TEST(Queues, LittlesLaw) {
  Scenario scenario = open_queue(varying(milliseconds(1), 0.4), 800, 500'000);
  scenario.pipelines[0].window = 3;
  scenario.pipelines[0].stages[0].link = crossing(microseconds(100), milliseconds(1));
  const PipelineOutcome outcome = only(scenario);
  EXPECT_NEAR(outcome.in_flight / (outcome.requests_per_s * outcome.latency.mean_ms / 1000), 1,
              0.002);
  EXPECT_GT(outcome.in_flight, 3) << "those that wait at the source count too";
}

TEST(Jitter, CostsThroughputAsTheMaxPlusRecursionSaid) {
  // Three equal stages at CV 0.2, against the bound.
  const Duration stage = varying(milliseconds(1), 0.2, Shape::kNormal);
  const auto efficiency = [&](int window) {
    Scenario scenario = chain({stage, stage, stage}, window);
    scenario.requests = 200'000;
    return only(scenario).requests_per_s / 1000;
  };
  EXPECT_NEAR(efficiency(3), 0.88, 0.01);
  EXPECT_NEAR(efficiency(4), 0.95, 0.01);
  EXPECT_NEAR(efficiency(6), 0.98, 0.01);
}

}  // namespace
}  // namespace pareto::simulation
