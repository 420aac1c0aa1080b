// The plain ways to run tasks that a schedule is compared with.
#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "partitioner/planning/tasks/plan_choice.h"

namespace pareto::tasks {

struct Baseline {
  std::string name;   ///< "async"
  std::string about;  ///< half a sentence
};

/// The baseline in which all tasks run on one device: one for each device.
inline constexpr const char* kOneDevice = "device";

/// Returns all of them, those of one device and those of several.
const std::vector<Baseline>& baselines();
/// Returns those of `names` that there are on these devices, in their order. No device is this
/// process. kOneDevice becomes "only NAME" of each.
std::vector<Baseline> baselines_on(const std::vector<std::string>& devices,
                                   const std::vector<std::string>& names);

/// Returns the plan of a baseline out of baselines_on(). Its times are the request's.
/// Fails: as plan_with().
Expected<TaskPlan> baseline_plan(const std::string& name, const PlanRequest& request,
                                 const std::vector<std::string>& devices);

}  // namespace pareto::tasks
