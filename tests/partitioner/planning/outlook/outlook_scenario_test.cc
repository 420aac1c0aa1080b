// The chosen plan as a scenario's file, simulated as it was predicted.
#include "partitioner/planning/outlook/outlook_scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partitioner/planning/simulation/scenario_file.h"
#include "partitioner/planning/simulation/simulate.h"

namespace pareto::planning {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class NoTrials final : public simulation::MeasuredPipelines {
 public:
  Expected<simulation::PipelineClass> find(const std::string& /*run*/,
                                           const std::string& trial) override {
    return fail(ErrorCode::kNotFound, "no trial {}", trial);
  }
};

/// Returns two devices, two operators of 10 and 6 ms, links of 1 ms.
CostInputs costs() {
  CostInputs inputs;
  inputs.boundary_bytes = {1000, 500, 100};
  inputs.legal.assign(3, true);
  for (const char* name : {"pi-1", "pi-2"}) {
    DeviceCosts device;
    device.name = name;
    device.compute = {milliseconds(0), milliseconds(10), milliseconds(16)};
    inputs.devices.push_back(device);
  }
  LinkCosts link;
  link.delay = milliseconds(1);
  inputs.links.assign(3, std::vector<LinkCosts>(3, link));
  return inputs;
}

/// Returns the costs of devices that have one choice of settings.
SettingsCosts costs_of(const CostInputs& inputs) {
  SettingsCosts costs;
  costs.add({}, inputs);
  return costs;
}

/// Returns the whole model on one device at window 1, and the two in a row at window 2.
Outlook outlook(const CostInputs& inputs) {
  Outlook outlook;
  outlook.condition = "wifi";
  for (const bool split : {false, true}) {
    PlannedPoint point;
    point.assignment = {0, 0};
    point.plan.model = "tiny\n\"1\"";
    if (split) point.plan.splits = {"after:relu"};
    point.placement.stages = split ? std::vector<PlacedStage>{{0, 0, 1}, {1, 1, 2}}
                                   : std::vector<PlacedStage>{{0, 0, 2}};
    for (const PlacedStage& stage : point.placement.stages) {
      const std::string& device = inputs.devices[static_cast<std::size_t>(stage.device)].name;
      point.plan.stages.push_back({device, stage.begin, stage.end});
    }
    point.evaluation = *evaluate(inputs, point.placement);
    point.point = at_window(point.evaluation, split ? 2 : 1);
    outlook.front.push_back(point);
  }
  return outlook;
}

TEST(OutlookScenario, IsSimulatedAsItWasPredicted) {
  const CostInputs inputs = costs();
  Outlook seen = outlook(inputs);
  for (const std::size_t chosen : {0, 1}) {
    seen.chosen = chosen;
    const PlannedPoint& point = seen.front[chosen];
    const auto text = scenario_text(seen, costs_of(inputs), 4);
    ASSERT_TRUE(text) << text.error().message;
    NoTrials none;
    const auto scenario = simulation::parse_scenario(*text, "s.yaml", std::nullopt, none);
    ASSERT_TRUE(scenario) << scenario.error().message << *text;
    const auto outcome = simulation::simulate(*scenario);
    ASSERT_TRUE(outcome) << outcome.error().message;
    const simulation::PipelineOutcome& pipeline = outcome->pipelines.at(0);
    EXPECT_EQ(pipeline.name, point.plan.model);
    EXPECT_EQ(pipeline.window, point.point.window);
    EXPECT_NEAR(pipeline.samples_per_s / (4 * point.point.throughput_per_s()), 1, 0.001);
    EXPECT_NEAR(pipeline.latency.p50_ms / to_milliseconds(point.point.latency), 1, 0.002);
    EXPECT_EQ(pipeline.stages.size(), chosen + 1);
  }
}

TEST(OutlookScenario, SaysWhatWasPredicted) {
  const CostInputs inputs = costs();
  Outlook seen = outlook(inputs);
  seen.chosen = 1;
  const auto text = scenario_text(seen, costs_of(inputs), 4);
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, AllOf(StartsWith("# tiny \"1\", cut after:relu, on pi-1, pi-2; network wifi"),
                           HasSubstr("# Predicted: 20 ms and 400 samples/s with 2 in flight.\n")));
}

TEST(OutlookScenario, NothingChosenIsNothingToSimulate) {
  const CostInputs inputs = costs();
  const auto text = scenario_text(outlook(inputs), costs_of(inputs), 1);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kExhausted);
}

}  // namespace
}  // namespace pareto::planning
