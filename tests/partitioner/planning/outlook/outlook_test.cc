// Outlooks of devices that may run their stages by several settings.
#include "partitioner/planning/outlook/outlook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "partitioner/planning/outlook/outlook_scenario.h"
#include "partitioner/planning/search/strategies.h"

namespace pareto::planning {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

/// Two devices and a model of two operators.
class TwoOperators final : public CutSpace {
 public:
  TwoOperators() : CutSpace(devices_called_a_and_b(), {}) {}

  bool anywhere() const override { return false; }
  Expected<CostInputs> inputs_of(const std::vector<DeviceFacts>& /*devices*/,
                                 const std::vector<ProbedTransport>& /*transports*/,
                                 const ProbedCodecs& /*codecs*/) const override {
    return fail(ErrorCode::kNotFound, "the test has its own");
  }
  Expected<Placement> placement_of(const plan::Plan& /*plan*/) const override {
    return fail(ErrorCode::kNotFound, "the test needs none");
  }

 private:
  static std::vector<DeviceFacts> devices_called_a_and_b() {
    std::vector<DeviceFacts> devices(2);
    devices[0].profile.device = "a";
    devices[1].profile.device = "b";
    return devices;
  }
  void place(const Placement& placement, plan::Plan& plan) const override {
    plan.replicated = placement.replicated;
    for (const PlacedStage& stage : placement.stages) {
      plan.stages.push_back({stage.device == 0 ? "a" : "b", stage.begin, stage.end});
      if (stage.begin > 0) plan.splits.emplace_back("middle");
    }
  }
};

/// Returns inputs by the times of each device's two operators, with links of 1 ms.
CostInputs inputs_of(const std::vector<std::pair<int, int>>& times) {
  CostInputs inputs;
  inputs.boundary_bytes = {8, 8, 8};
  inputs.legal.assign(3, true);
  for (const auto& [first, second] : times) {
    DeviceCosts device;
    device.name = inputs.devices.empty() ? "a" : "b";
    device.compute = {milliseconds(0), milliseconds(first), milliseconds(first + second)};
    inputs.devices.push_back(device);
  }
  LinkCosts link;
  link.delay = milliseconds(1);
  link.codecs.push_back({});
  link.codecs.back().transport = "tcp";
  inputs.links.assign(3, std::vector<LinkCosts>(3, link));
  return inputs;
}

/// With one thread device a is the faster one, with two threads device b.
SettingsCosts one_or_two_threads() {
  SettingsCosts costs;
  costs.add({.threads = 1}, inputs_of({{10, 10}, {30, 30}}));
  costs.add({.threads = 2}, inputs_of({{40, 40}, {12, 12}}));
  return costs;
}

OutlookOptions options() {
  OutlookOptions options;
  options.search = search::exact_search();
  options.pairs = true;
  options.replicas = false;
  return options;
}

TEST(OutlookOfSettings, EveryDeviceGetsThatWhichIsBestForIt) {
  OutlookOptions most = options();
  most.preference = parse_preference("throughput").value();
  const auto outlook = look_ahead(TwoOperators(), one_or_two_threads(), most, "none");
  ASSERT_TRUE(outlook) << outlook.error().message;
  ASSERT_TRUE(outlook->chosen);
  const PlannedPoint& point = outlook->front[*outlook->chosen];
  ASSERT_EQ(point.plan.stages.size(), 2U) << "both at work";
  EXPECT_EQ(point.plan.threads_text(), point.plan.stages[0].device == "a" ? "1+2" : "2+1");
  EXPECT_EQ(point.assignment, search::Assignment({0, 1}));
  EXPECT_EQ(point.evaluation.bottleneck, milliseconds(12));
  // A lone request is quickest on a, by its better settings, which are then the plan's.
  const plan::Plan& quickest = outlook->front.front().plan;
  ASSERT_EQ(quickest.stages.size(), 1U);
  EXPECT_EQ(quickest.stages[0].device, "a");
  EXPECT_FALSE(quickest.has_own_settings());
  EXPECT_EQ(quickest.settings.threads, 1);
  EXPECT_EQ(outlook->front.front().evaluation.latency, milliseconds(22));
}

TEST(OutlookOfSettings, EveryPlanIsLookedAtOnce) {
  const auto outlook = look_ahead(TwoOperators(), one_or_two_threads(), options(), "none");
  ASSERT_TRUE(outlook) << outlook.error().message;
  std::set<std::string> seen;
  for (const Candidate& one : outlook->candidates) {
    const std::string devices = one.plan.stages.front().device + one.plan.stages.back().device;
    EXPECT_TRUE(seen.insert(devices + one.plan.threads_text() +
                            std::to_string(one.plan.settings_of(0).threads))
                    .second)
        << devices << ' ' << one.plan.threads_text();
  }
  EXPECT_EQ(seen.size(), 2 * 2U + 2 * 4U) << "each device by two settings, each pair by four";
}

TEST(OutlookOfSettings, AScenarioHasTheTimesOfThePlansSettings) {
  OutlookOptions most = options();
  most.preference = parse_preference("throughput").value();
  const SettingsCosts costs = one_or_two_threads();
  const auto outlook = look_ahead(TwoOperators(), costs, most, "none");
  ASSERT_TRUE(outlook) << outlook.error().message;
  const auto text = scenario_text(*outlook, costs, 1);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_THAT(*text, HasSubstr("10ms"));
  EXPECT_THAT(*text, HasSubstr("12ms"));
  EXPECT_THAT(*text, HasSubstr("; threads "));
}

}  // namespace
}  // namespace pareto::planning
