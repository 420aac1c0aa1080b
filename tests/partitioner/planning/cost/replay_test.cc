// Against the cost model where nothing jitters, against known figures and the simulation where
// stages do.
#include "partitioner/planning/cost/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>

#include "partitioner/planning/simulation/draws.h"
#include "partitioner/planning/simulation/planned_scenario.h"
#include "partitioner/planning/simulation/simulate.h"
#include "tests/support/random_costs.h"

namespace pareto::planning {
namespace {

using std::chrono::milliseconds;

std::size_t below(std::size_t bound, std::mt19937_64& random) { return random() % bound; }

void mix(std::vector<double>& values, std::mt19937_64& random) {
  for (std::size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[below(i, random)]);
}

/// Returns 64 factors around 1, normally distributed, in a random order.
std::vector<double> factors(double cv, std::mt19937_64& random) {
  constexpr int kFactors = 64;
  std::vector<double> values;
  double squares = 0;
  for (int i = 0; i < kFactors; ++i) {
    values.push_back(simulation::normal_quantile((i + 0.5) / kFactors));
    squares += values.back() * values.back();
  }
  for (double& value : values) value = 1 + value * cv / std::sqrt(squares / kFactors);
  mix(values, random);
  return values;
}

/// Makes stages of so long on devices of their own; every link is occupied for a while and delays.
CostInputs chain(const std::vector<Nanoseconds>& stages, Nanoseconds occupancy, Nanoseconds delay) {
  CostInputs inputs;
  inputs.boundary_bytes.assign(stages.size() + 1, 1);
  inputs.legal.assign(stages.size() + 1, true);
  DeviceCosts device;
  device.compute = {Nanoseconds(0)};
  for (const Nanoseconds stage : stages) device.compute.push_back(device.compute.back() + stage);
  inputs.devices.assign(stages.size(), device);
  LinkCosts link;
  link.message = occupancy;
  link.delay = delay;
  inputs.links.assign(stages.size() + 1, std::vector<LinkCosts>(stages.size() + 1, link));
  return inputs;
}

/// Returns the stages of chain(), each on its device.
Placement in_order(int stages) {
  Placement placement;
  for (int i = 0; i < stages; ++i) placement.stages.push_back({i, i, i + 1});
  return placement;
}

CostInputs three_equal_stages(double cv, std::uint64_t seed) {
  CostInputs inputs =
      chain({milliseconds(10), milliseconds(10), milliseconds(10)}, Nanoseconds(0), Nanoseconds(0));
  std::mt19937_64 random(seed);
  for (DeviceCosts& device : inputs.devices) device.jitter = factors(cv, random);
  return inputs;
}

/// Calls `look(inputs, placement, evaluation)` for `count` random placements of all kinds.
template <typename Look>
void for_random_placements(int count, std::mt19937_64& random, Look look) {
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    const test::PlacedCosts made = test::random_placed_costs(random);
    look(made.inputs, made.placement, *evaluate(made.inputs, made.placement));
  }
}

ReplayOptions of_requests(int requests, int block = 16) {
  ReplayOptions options;
  options.requests = requests;
  options.block = block;
  return options;
}

TEST(Replay, WithoutJitterIsTheCostModel) {
  std::mt19937_64 random(1);
  int shared = 0;
  int woken = 0;
  for_random_placements(
      500, random,
      [&](const CostInputs& inputs, const Placement& placement, const Evaluation& evaluation) {
        // No bottleneck is shorter for evaluate(), but one of stages and links that take no time is
        // here.
        if (evaluation.bottleneck == Nanoseconds(1)) return;
        const OperatingPoint full = operating_points(evaluation, {1, 500}).back();
        for (const int window :
             {1, std::max(1, full.window - 1), full.window, 2 * full.window + 1}) {
          const auto replayed = replay(inputs, placement, window, of_requests(100));
          ASSERT_TRUE(replayed) << replayed.error().message;
          const OperatingPoint expected = at_window(evaluation, window);
          ASSERT_EQ(replayed->window, window);
          ASSERT_EQ(replayed->response_p50, expected.latency) << window;
          ASSERT_EQ(replayed->response_p95, expected.latency) << window;
          ASSERT_DOUBLE_EQ(replayed->throughput_per_s, expected.throughput_per_s()) << window;
          ASSERT_EQ(replayed->share, 1);
        }
        CostInputs simpler = inputs;
        for (auto& row : simpler.links) {
          for (LinkCosts& link : row) link.media.clear();
        }
        if (evaluate(simpler, placement)->bottleneck < evaluation.bottleneck) ++shared;
        for (DeviceCosts& device : simpler.devices) device.busy.reset();
        if (evaluate(simpler, placement)->bottleneck != evaluation.bottleneck) ++woken;
      });
  EXPECT_GT(shared, 20);
  EXPECT_GT(woken, 20);
}

TEST(Replay, ThreeEqualStagesLoseWhatIsKnown) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const CostInputs inputs = three_equal_stages(0.2, seed);
    EXPECT_NEAR(replay(inputs, in_order(3), 3)->share, 0.88, 0.02) << seed;
    EXPECT_NEAR(replay(inputs, in_order(3), 4)->share, 0.95, 0.02) << seed;
    EXPECT_NEAR(replay(inputs, in_order(3), 6)->share, 0.98, 0.02) << seed;
    EXPECT_NEAR(replay(inputs, in_order(3), 4)->throughput_per_s, 95, 2) << seed;
  }
}

TEST(Replay, IsNeverBetterThanTheCostModelAndGrowsWithTheWindow) {
  std::mt19937_64 random(2);
  for_random_placements(
      60, random, [&](CostInputs inputs, const Placement& placement, const Evaluation& evaluation) {
        for (DeviceCosts& device : inputs.devices) {
          device.jitter = factors(0.05 * static_cast<double>(1 + below(7, random)), random);
        }
        const int full = operating_points(evaluation, {1, 20}).back().window;
        double before = 0;
        for (int window = 1; window <= 2 * full; ++window) {
          const auto replayed = replay(inputs, placement, window, of_requests(500));
          ASSERT_LE(replayed->share, 1);
          ASSERT_LE(replayed->throughput_per_s, at_window(evaluation, window).throughput_per_s());
          ASSERT_GE(replayed->throughput_per_s, before * (1 - 1e-9)) << window;
          ASSERT_LE(replayed->response_p50, replayed->response_p95);
          before = replayed->throughput_per_s;
        }
      });
}

TEST(Replay, IsTheSameForTheSameSeed) {
  const CostInputs inputs = three_equal_stages(0.2, 1);
  ReplayOptions options;
  const auto first = replay(inputs, in_order(3), 3, options);
  const auto again = replay(inputs, in_order(3), 3, options);
  EXPECT_EQ(first->throughput_per_s, again->throughput_per_s);
  EXPECT_EQ(first->response_p50, again->response_p50);
  EXPECT_EQ(first->response_p95, again->response_p95);
  options.seed = 2;
  EXPECT_NE(replay(inputs, in_order(3), 3, options)->throughput_per_s, first->throughput_per_s);
}

TEST(Replay, OnlyRatiosOfFactorsCount) {
  CostInputs inputs = three_equal_stages(0.2, 1);
  const auto first = replay(inputs, in_order(3), 4);
  for (DeviceCosts& device : inputs.devices) {
    for (double& factor : device.jitter) factor *= 8;
  }
  EXPECT_DOUBLE_EQ(replay(inputs, in_order(3), 4)->throughput_per_s, first->throughput_per_s);
}

TEST(Replay, SlowSpellsCostMoreThanSlowRequests) {
  CostInputs inputs = three_equal_stages(0, 1);
  std::vector<double> spells(64, 0.7);
  std::fill(spells.begin(), spells.begin() + 32, 1.3);
  for (DeviceCosts& device : inputs.devices) device.jitter = spells;
  const auto apart = replay(inputs, in_order(3), 6, of_requests(4000, 1));
  const auto together = replay(inputs, in_order(3), 6, of_requests(4000, 32));
  EXPECT_LT(together->share, apart->share - 0.05) << "what waits outlasts no spell";
}

TEST(Replay, AgreesWithTheSimulation) {
  const std::vector<Nanoseconds> stages{milliseconds(9), milliseconds(10)};
  CostInputs inputs = chain(stages, milliseconds(4), milliseconds(3));
  std::mt19937_64 random(3);
  for (DeviceCosts& device : inputs.devices) device.jitter = factors(0.25, random);

  constexpr std::size_t kRows = 50'000;
  auto recording = std::make_shared<simulation::Recording>();
  recording->columns = stages.size();
  recording->block = static_cast<double>(kRows);
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const double factor = inputs.devices[i].jitter[below(64, random)];
      recording->nanoseconds.push_back(
          std::llround(factor * static_cast<double>(stages[i].count())));
    }
  }
  simulation::Scenario scenario = *simulation::planned_scenario(inputs, in_order(2), {});
  simulation::PipelineClass& pipeline = scenario.pipelines[0];
  pipeline.recording = recording;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    pipeline.stages[i].compute.column = static_cast<int>(i);
    pipeline.stages[i].queue = 64;
  }
  scenario.requests = 60'000;
  // L = 40 ms, B = 10 ms.
  for (const int window : {1, 3, 4, 5, 8}) {
    pipeline.window = window;
    const auto simulated = simulation::simulate(scenario);
    ASSERT_TRUE(simulated) << simulated.error().message;
    const simulation::PipelineOutcome& outcome = simulated->pipelines.at(0);
    const auto replayed = replay(inputs, in_order(2), window, of_requests(30'000, 1));
    EXPECT_NEAR(replayed->throughput_per_s / outcome.requests_per_s, 1, 0.01) << window;
    EXPECT_NEAR(to_milliseconds(replayed->response_p50) / outcome.latency.p50_ms, 1, 0.01)
        << window;
    EXPECT_NEAR(to_milliseconds(replayed->response_p95) / outcome.latency.p95_ms, 1, 0.02)
        << window;
  }
}

/// The whole of chain() on three devices, of which the last is the slowest.
const Placement kReplicas{{{0, 0, 2}, {1, 0, 2}, {2, 0, 2}}, {}, true};
CostInputs three_replicas(Nanoseconds occupancy, int medium) {
  CostInputs inputs = chain({milliseconds(10), milliseconds(20)}, occupancy, milliseconds(2));
  inputs.devices.push_back(inputs.devices[0]);
  inputs.devices[2].compute = {Nanoseconds(0), milliseconds(15), milliseconds(40)};
  inputs.media = medium + 1;
  LinkCosts link = inputs.links[0][0];
  if (medium >= 0) link.media = {{medium}};
  inputs.links.assign(4, std::vector<LinkCosts>(4, link));
  return inputs;
}

TEST(Replay, OfReplicasIsTheCostModelWhereNothingJitters) {
  for (const int medium : {-1, 0}) {
    // Six messages of 9 ms a turn on one medium are more than the slowest replica takes.
    const CostInputs inputs = three_replicas(milliseconds(9), medium);
    const Evaluation evaluation = *evaluate(inputs, kReplicas);
    EXPECT_NEAR(to_milliseconds(evaluation.bottleneck), medium < 0 ? 40 : 54, 1e-4);
    for (const int window : {1, 2, 3, 4, 6, 7, 20}) {
      const auto replayed = replay(inputs, kReplicas, window, of_requests(600));
      ASSERT_TRUE(replayed) << replayed.error().message;
      EXPECT_NEAR(replayed->throughput_per_s / at_window(evaluation, window).throughput_per_s(), 1,
                  0.01)
          << window;
      if (window == 1) {
        EXPECT_EQ(replayed->response_p50, evaluation.latency) << "the slowest's";
      }
    }
  }
}

TEST(Replay, ReplicasWaitForEachOther) {
  CostInputs inputs = three_replicas(Nanoseconds(0), -1);
  inputs.devices[2] = inputs.devices[0];
  std::mt19937_64 random(4);
  for (DeviceCosts& device : inputs.devices) device.jitter = factors(0.3, random);
  const auto replayed = replay(inputs, kReplicas, 3);
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_LT(replayed->share, 0.97);
  EXPECT_GT(replay(inputs, kReplicas, 9)->throughput_per_s, 1.01 * replayed->throughput_per_s);
}

TEST(ReplayOpen, TakesTheSmallestWindowThatIsGoodEnough) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const CostInputs inputs = three_equal_stages(0.2, seed);
    const auto open = replay_open(inputs, in_order(3), 100);
    ASSERT_TRUE(open);
    const double best = replay(inputs, in_order(3), 6)->throughput_per_s;
    EXPECT_GT(open->window, 3) << seed;
    EXPECT_GE(open->throughput_per_s, 0.99 * best);
    EXPECT_LT(replay(inputs, in_order(3), open->window - 1)->throughput_per_s, 0.99 * best);
    EXPECT_EQ(open->throughput_per_s, replay(inputs, in_order(3), open->window)->throughput_per_s);
    EXPECT_EQ(replay_open(inputs, in_order(3), 2)->window, 2) << "no more are allowed";
  }
}

TEST(ReplayOpen, WithoutJitterFillsTheBottleneck) {
  const CostInputs inputs =
      chain({milliseconds(9), milliseconds(10)}, milliseconds(4), milliseconds(4));
  const auto open = replay_open(inputs, in_order(2), 100);
  EXPECT_EQ(open->window, 5) << "43 ms of 10 ms";
  EXPECT_DOUBLE_EQ(open->throughput_per_s, 100);
}

TEST(Replay, KnowsJitterOfTheDevicesThatAreUsed) {
  CostInputs inputs = three_equal_stages(0.2, 1);
  EXPECT_TRUE(knows_jitter(inputs, in_order(3)));
  inputs.devices[2].jitter.clear();
  EXPECT_FALSE(knows_jitter(inputs, in_order(3)));
  EXPECT_TRUE(knows_jitter(inputs, {{{0, 0, 1}, {1, 1, 3}}}));
}

TEST(Replay, RefusesWhatIsNoPipeline) {
  const CostInputs inputs = three_equal_stages(0.2, 1);
  const auto code = [&](const Placement& placement, int window) {
    const auto result = replay(inputs, placement, window);
    return result ? ErrorCode::kInternal : result.error().code;
  };
  using enum ErrorCode;
  EXPECT_EQ(code(in_order(3), 1), kInternal);
  EXPECT_EQ(code(in_order(3), 0), kInvalidArgument);
  EXPECT_EQ(code(in_order(3), kLargestSearchedWindow + 1), kInvalidArgument);
  EXPECT_EQ(code(in_order(2), 1), kInvalidArgument) << "operators that run nowhere";
  EXPECT_EQ(code({{{0, 0, 3}, {1, 0, 2}}, {}, true}, 1), kInvalidArgument) << "half a replica";
}

}  // namespace
}  // namespace pareto::planning
