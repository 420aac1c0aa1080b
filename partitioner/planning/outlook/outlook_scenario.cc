#include "partitioner/planning/outlook/outlook_scenario.h"

#include <vector>

#include "core/base/printable.h"
#include "core/base/text.h"
#include "partitioner/planning/simulation/planned_scenario.h"

namespace pareto::planning {
namespace {

/// Returns "; threads 1+2, schedule clusters": what is not as by default.
std::string settings_of(const plan::Plan& plan) {
  std::vector<std::string> named;
  if (plan.threads_text() != "0") named.push_back("threads " + plan.threads_text());
  if (plan.schedule_text() != plan::kSequential) {
    named.push_back("schedule " + plan.schedule_text());
  }
  return named.empty() ? "" : "; " + join(named);
}

std::vector<std::string> heading_of(const PlannedPoint& planned, const std::string& condition,
                                    std::int64_t batch) {
  const std::string cuts =
      planned.plan.splits.empty() ? "uncut" : "cut " + join(planned.plan.splits, ", ");
  const double samples_per_s = planned.point.throughput_per_s() * static_cast<double>(batch);
  return {printable(fmt::format("{}, {}, on {}; network {}, batch {}{}", planned.plan.model, cuts,
                                join(planned.plan.device_names()), condition, batch,
                                settings_of(planned.plan))),
          fmt::format("Predicted: {:.4g} ms and {:.4g} samples/s with {} in flight.",
                      to_milliseconds(planned.point.latency), samples_per_s, planned.point.window),
          "Times are those of the devices' profiles and the links' probes, for paretoctl simulate.",
          "",
          "Made to be changed: how many devices and pipelines there are, when requests come. In",
          "place of its occupancy, delay and early a link may have network: FILE.yaml, a condition",
          "that may be a trace. All keys: partitioner/planning/simulation/FORMAT.md."};
}

}  // namespace

Expected<std::string> scenario_text(const Outlook& outlook, const SettingsCosts& costs,
                                    std::int64_t batch) {
  if (!outlook.chosen) {
    return fail(ErrorCode::kExhausted, "no plan keeps the limits asked for: there is no scenario");
  }
  const PlannedPoint& planned = outlook.front[*outlook.chosen];
  PARETO_ASSIGN(
      const simulation::Scenario scenario,
      simulation::planned_scenario(costs.inputs_under(planned.assignment), planned.placement,
                                   {planned.plan.model, planned.point.window, batch}));
  return simulation::planned_scenario_text(scenario, heading_of(planned, outlook.condition, batch));
}

}  // namespace pareto::planning
