// What plans are searched from if every device may run its stages by one of several settings:
// numbers of threads, schedules.
#pragma once

#include <vector>

#include "core/plan/plan.h"
#include "core/plan/stage_settings.h"
#include "partitioner/planning/cost/cost_inputs.h"
#include "partitioner/planning/cost/evaluate.h"
#include "partitioner/planning/search/device_choices.h"

namespace pareto::planning {

struct SettingsCosts {
  std::vector<plan::StageSettings> settings;  ///< settings that each device may have
  CostInputs inputs;                          ///< inputs if all devices have the first settings
  search::DeviceChoices devices;              ///< costs of the devices by each of the settings

  /// Adds settings. `by_them`: inputs if all devices have these, which differ from those of other
  /// settings in the devices only.
  void add(plan::StageSettings added, CostInputs by_them);
  /// Returns the inputs if the devices have those settings.
  CostInputs inputs_under(const search::Assignment& assignment) const;
  /// Sets the settings of a placement's plan: those of the plan if all its devices have the same,
  /// else each stage's own where they are not the first settings.
  void set_settings(const Placement& placement, const search::Assignment& assignment,
                    plan::Plan& plan) const;
};

}  // namespace pareto::planning
