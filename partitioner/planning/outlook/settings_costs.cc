#include "partitioner/planning/outlook/settings_costs.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace pareto::planning {

void SettingsCosts::add(plan::StageSettings added, CostInputs by_them) {
  settings.push_back(std::move(added));
  devices.push_back(by_them.devices);
  if (settings.size() == 1) inputs = std::move(by_them);
}

CostInputs SettingsCosts::inputs_under(const search::Assignment& assignment) const {
  return search::AssignedInputs(inputs, devices).under(assignment);
}

void SettingsCosts::set_settings(const Placement& placement, const search::Assignment& assignment,
                                 plan::Plan& plan) const {
  std::vector<plan::StageSettings> of_stages;
  for (const PlacedStage& stage : placement.stages) {
    of_stages.push_back(settings[assignment[static_cast<std::size_t>(stage.device)]]);
  }
  const bool alike =
      std::ranges::adjacent_find(of_stages, std::ranges::not_equal_to()) == of_stages.end();
  plan.settings = alike ? of_stages.front() : settings.front();
  for (std::size_t i = 0; i < of_stages.size(); ++i) {
    plan.stages[i].settings.reset();
    if (of_stages[i] != plan.settings) plan.stages[i].settings = std::move(of_stages[i]);
  }
}

}  // namespace pareto::planning
