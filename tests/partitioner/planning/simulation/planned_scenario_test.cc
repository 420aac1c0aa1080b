// The simulator calibrated by what predictions are made from, against those predictions.
#include "partitioner/planning/simulation/planned_scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "partitioner/planning/cost/replay.h"
#include "partitioner/planning/simulation/scenario_file.h"
#include "partitioner/planning/simulation/simulate.h"
#include "partitioner/planning/simulation/wire.h"
#include "tests/support/random_costs.h"

namespace pareto::simulation {
namespace {

using planning::CostInputs;
using planning::DeviceCosts;
using planning::Evaluation;
using planning::LinkCosts;
using planning::Placement;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::HasSubstr;

/// A source without trials: a reader of what was planned needs no store.
class NoTrials final : public MeasuredPipelines {
 public:
  Expected<PipelineClass> find(const std::string& /*run*/, const std::string& trial) override {
    return fail(ErrorCode::kNotFound, "no trial {}", trial);
  }
};

Scenario read_again(const Scenario& scenario, const std::vector<std::string>& heading = {}) {
  NoTrials none;
  const std::string text = planned_scenario_text(scenario, heading);
  auto read = parse_scenario(text, "planned.yaml", std::nullopt, none);
  EXPECT_TRUE(read) << read.error().message << "\n" << text;
  return read.value_or(Scenario{});
}

/// Returns the scenario as planned, written and read: what people simulate.
Scenario from_file(const CostInputs& inputs, const Placement& placement, int window) {
  const auto planned = planned_scenario(inputs, placement, {"p", window, 1});
  EXPECT_TRUE(planned) << planned.error().message;
  return read_again(*planned);
}

Outcome simulated(const CostInputs& inputs, const Placement& placement, int window,
                  std::int64_t requests) {
  Scenario scenario = from_file(inputs, placement, window);
  scenario.requests = requests;
  const auto outcome = simulate(scenario);
  EXPECT_TRUE(outcome) << outcome.error().message;
  return *outcome;
}

/// Random costs name no devices.
test::PlacedCosts named_costs(std::mt19937_64& random) {
  test::PlacedCosts made = test::random_placed_costs(random);
  for (std::size_t i = 0; i < made.inputs.devices.size(); ++i) {
    made.inputs.devices[i].name = fmt::format("d{}", i);
  }
  return made;
}

/// Returns three stages on devices of their own, links of 50 Mbit/s that delay by 3 ms.
CostInputs three_devices() {
  CostInputs inputs;
  inputs.boundary_bytes = {20'000, 10'000, 5'000, 1'000};
  inputs.legal.assign(4, true);
  for (const char* name : {"camera", "edge", "cloud"}) {
    DeviceCosts device;
    device.name = name;
    device.compute = {milliseconds(0), milliseconds(9), milliseconds(19), milliseconds(28)};
    device.overhead = microseconds(200);
    inputs.devices.push_back(device);
  }
  LinkCosts link;
  link.bytes_per_second = 50e6 / 8;
  link.delay = milliseconds(3);
  link.send = microseconds(100);
  link.receive_ns_per_byte = 5;
  inputs.links.assign(4, std::vector<LinkCosts>(4, link));
  return inputs;
}

Placement in_order() { return {{{0, 0, 1}, {1, 1, 2}, {2, 2, 3}}}; }

void expect_equal(const Crossing& read, const Crossing& planned) {
  EXPECT_EQ(read.bytes, planned.bytes);
  EXPECT_EQ(read.occupancy.mean, planned.occupancy.mean);
  EXPECT_EQ(read.delay.mean, planned.delay.mean);
  EXPECT_EQ(read.early, planned.early);
  ASSERT_EQ(read.media.size(), planned.media.size());
  for (std::size_t i = 0; i < read.media.size(); ++i) {
    EXPECT_EQ(read.media[i].medium, planned.media[i].medium);
    EXPECT_DOUBLE_EQ(read.media[i].share, planned.media[i].share);
  }
  EXPECT_EQ(read.places, planned.places);
}

TEST(PlannedScenario, IsTheSameAfterItWasAFile) {
  std::mt19937_64 random(1);
  int early = 0;
  int shared = 0;
  int by_two = 0;
  for (int i = 0; i < 300 && !HasFailure(); ++i) {
    test::PlacedCosts made = named_costs(random);
    for (DeviceCosts& device : made.inputs.devices) device.jitter = {1.1, 0.9, 1.2, 0.8};
    const auto planned = planned_scenario(made.inputs, made.placement, {"p \"1\"", 3, 8});
    ASSERT_TRUE(planned) << planned.error().message;
    const Scenario read = read_again(*planned, {"what it is", "", "and why"});
    EXPECT_EQ(read.requests, planned->requests);
    ASSERT_EQ(read.devices.size(), planned->devices.size());
    EXPECT_EQ(read.devices[0].name, planned->devices[0].name);
    EXPECT_EQ(read.devices[0].cores, 1);
    ASSERT_EQ(read.media.size(), planned->media.size());
    const PipelineClass& before = planned->pipelines.at(0);
    const PipelineClass& after = read.pipelines.at(0);
    EXPECT_EQ(after.name, before.name);
    EXPECT_EQ(after.window, 3);
    EXPECT_EQ(after.batch, 8);
    ASSERT_EQ(after.stages.size(), before.stages.size());
    for (std::size_t k = 0; k < after.stages.size(); ++k) {
      const Stage& stage = before.stages[k];
      EXPECT_EQ(after.stages[k].device, stage.device);
      EXPECT_EQ(after.stages[k].compute.mean, stage.compute.mean);
      EXPECT_NEAR(after.stages[k].compute.cv, std::sqrt(0.025), 1e-6);
      ASSERT_EQ(after.stages[k].busy.has_value(), stage.busy.has_value());
      if (stage.busy) {
        EXPECT_EQ(after.stages[k].busy->mean, stage.busy->mean);
        EXPECT_EQ(after.stages[k].busy->cv, after.stages[k].compute.cv);
      }
      EXPECT_EQ(after.stages[k].receive.mean, stage.receive.mean);
      EXPECT_EQ(after.stages[k].send.mean, stage.send.mean);
      expect_equal(after.stages[k].link, stage.link);
    }
    expect_equal(after.result, before.result);
    early += before.result.early.count() > 0 ||
             (before.stages.size() > 1 && before.stages[1].link.early.count() > 0);
    shared += planned->media.empty() ? 0 : 1;
    by_two += before.result.media.size() > 1;
  }
  EXPECT_GT(early, 0);
  EXPECT_GT(shared, 100);
  EXPECT_GT(by_two, 10);
}

TEST(PlannedScenario, TakesWhatACostModelSays) {
  CostInputs inputs = three_devices();
  inputs.devices[1].busy = inputs.devices[1];
  inputs.devices[1].busy->overhead = Nanoseconds(0);
  inputs.links[0][1].codecs = {{"none", {}, {}, ""}, {"int8", {.bytes_factor = 0.25}, {}, ""}};
  inputs.links[1][2].media = {{1}};
  inputs.links[2][3].media = {{1}};
  inputs.media = 2;
  Placement placement = in_order();
  placement.codecs = {0, 1, 0, 0};
  const auto planned = planned_scenario(inputs, placement, {"p", 4, 2});
  ASSERT_TRUE(planned) << planned.error().message;
  ASSERT_EQ(planned->devices.size(), 3U);
  EXPECT_EQ(planned->devices[1].name, "edge");
  ASSERT_EQ(planned->media.size(), 1U);
  EXPECT_EQ(planned->media[0].name, "medium-1");
  inputs.medium_names = {"cellar", "attic"};
  EXPECT_EQ(planned_scenario(inputs, placement, {"p", 4, 2})->media[0].name, "attic");
  const PipelineClass& pipeline = planned->pipelines.at(0);
  EXPECT_FALSE(pipeline.stages[0].busy);
  EXPECT_EQ(pipeline.stages[1].compute.mean, milliseconds(10) + microseconds(200));
  EXPECT_EQ(pipeline.stages[1].busy->mean, milliseconds(10));
  EXPECT_EQ(pipeline.stages[1].receive.mean, microseconds(50));
  EXPECT_EQ(pipeline.stages[1].send.mean, microseconds(100));
  const Crossing& coded = pipeline.stages[1].link;
  EXPECT_EQ(coded.bytes, bytes_with_packet_headers(2'500 + kFrameBytes));
  EXPECT_EQ(coded.occupancy.mean, microseconds(400));
  EXPECT_EQ(coded.delay.mean, milliseconds(3));
  EXPECT_TRUE(coded.media.empty());
  ASSERT_EQ(pipeline.stages[2].link.media.size(), 1U);
  EXPECT_EQ(pipeline.stages[2].link.media[0].medium, 0);
  ASSERT_EQ(pipeline.result.media.size(), 1U);
  EXPECT_EQ(pipeline.result.media[0].medium, 0);
}

TEST(PlannedScenario, ALoneRequestTakesWhatIsPredicted) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    test::PlacedCosts made = named_costs(random);
    // When stages are awake a simulation knows better, and when a medium is still busy with what
    // has arrived early.
    for (DeviceCosts& device : made.inputs.devices) {
      device.busy.reset();
      if (made.inputs.media > 0) device.early.clear();
    }
    const Evaluation predicted = *planning::evaluate(made.inputs, made.placement);
    const Outcome outcome = simulated(made.inputs, made.placement, 1, 100);
    // What takes no time to be computed takes a nanosecond.
    const auto stages = static_cast<double>(made.placement.stages.size());
    EXPECT_NEAR(outcome.pipelines.at(0).latency.most_ms * 1e6, to_nanoseconds(predicted.latency),
                stages + 0.01);
  }
}

/// Returns whether stages that are at work all the time stay awake, and gain by it: in the cost
/// model a pipeline that is full wakes all of them.
bool stay_awake(const Scenario& scenario) {
  return std::ranges::all_of(scenario.pipelines.at(0).stages, [](const Stage& stage) {
    return !stage.busy || (stage.busy->mean <= stage.compute.mean &&
                           5 * (stage.receive.mean + stage.send.mean) < stage.busy->mean);
  });
}

TEST(PlannedScenario, AFullPipelineIsAsFastAsItsBottleneck) {
  std::mt19937_64 random(3);
  int busy = 0;
  for (int i = 0; i < 900 && !HasFailure(); ++i) {
    test::PlacedCosts made = named_costs(random);
    const Evaluation predicted = *planning::evaluate(made.inputs, made.placement);
    if (predicted.bottleneck.count() < 100) continue;  // a nanosecond matters
    if (!stay_awake(*planned_scenario(made.inputs, made.placement, {}))) continue;
    const planning::OperatingPoint full = planning::operating_points(predicted, {1, 500}).back();
    const Outcome outcome = simulated(made.inputs, made.placement, 2 * full.window + 8, 20'000);
    EXPECT_NEAR(outcome.pipelines.at(0).requests_per_s * to_seconds(predicted.bottleneck), 1, 0.03)
        << i << ": messages of several requests may wait for each other on media";
    for (DeviceCosts& device : made.inputs.devices) device.busy.reset();
    busy += planning::evaluate(made.inputs, made.placement)->bottleneck != predicted.bottleneck;
  }
  EXPECT_GT(busy, 5);
}

TEST(PlannedScenario, WithJitterItIsWhatAReplayIs) {
  CostInputs inputs = three_devices();
  std::mt19937_64 random(4);
  std::lognormal_distribution<> factor(0, 0.2);
  for (DeviceCosts& device : inputs.devices) {
    for (int i = 0; i < 500; ++i) device.jitter.push_back(factor(random));
  }
  for (const int window : {1, 3, 5, 8}) {
    const auto replayed = planning::replay(inputs, in_order(), window, {.requests = 20'000});
    ASSERT_TRUE(replayed) << replayed.error().message;
    const PipelineOutcome outcome = simulated(inputs, in_order(), window, 40'000).pipelines.at(0);
    EXPECT_NEAR(outcome.requests_per_s / replayed->throughput_per_s, 1, 0.03) << window;
    EXPECT_NEAR(outcome.latency.p50_ms / to_milliseconds(replayed->response_p50), 1, 0.03)
        << window;
  }
}

TEST(PlannedScenario, WhatLeavesEarlyArrivesSooner) {
  CostInputs inputs = three_devices();
  for (auto& row : inputs.links) {
    for (LinkCosts& link : row) link.delay = milliseconds(1);
  }
  inputs.devices[0].early.resize(4);
  inputs.devices[0].early[1] = {{9'000, milliseconds(8)}};
  const Evaluation predicted = *planning::evaluate(inputs, in_order());
  const auto planned = planned_scenario(inputs, in_order(), {"p", 1, 1});
  ASSERT_TRUE(planned);
  // The last 1000 bytes and a millisecond, of 1.6 ms that the link is occupied for.
  EXPECT_EQ(planned->pipelines[0].stages[1].link.early, microseconds(440));
  const Outcome outcome = simulated(inputs, in_order(), 1, 100);
  EXPECT_NEAR(outcome.pipelines.at(0).latency.most_ms, to_milliseconds(predicted.latency), 1e-5);
}

TEST(PlannedScenario, SaysWhatItsFiguresAre) {
  const auto planned = planned_scenario(three_devices(), in_order(), {"p", 2, 1});
  const std::string text = planned_scenario_text(*planned, {"first", "", "second"});
  EXPECT_THAT(text, testing::StartsWith("# first\n#\n# second\nseed: 1\n"));
  EXPECT_THAT(text, HasSubstr("  - {name: \"edge\", count: 1, cores: 1}\n"));
  EXPECT_THAT(text, HasSubstr("compute: 9.2ms "));
  EXPECT_THAT(text, HasSubstr("link: {bytes: 10000, occupancy: 1.6ms, delay: 3ms}\n"));
}

TEST(PlannedScenario, RefusesWhatIsNoPipeline) {
  const CostInputs inputs = three_devices();
  const auto code = [&](const Placement& placement, int window) {
    const auto planned = planned_scenario(inputs, placement, {"p", window, 1});
    return planned ? ErrorCode::kInternal : planned.error().code;
  };
  EXPECT_EQ(code(in_order(), 1), ErrorCode::kInternal);
  EXPECT_EQ(code(in_order(), 0), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({{{0, 0, 1}}}, 1), ErrorCode::kInvalidArgument) << "operators that run nowhere";
  EXPECT_EQ(code({{{0, 0, 3}, {1, 0, 3}}, {}, true}, 1), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace pareto::simulation
