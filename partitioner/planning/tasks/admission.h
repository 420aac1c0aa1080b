// Which tasks are run at all: decided by prediction, before any begins. A plug: one function, one
// line in admission.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "partitioner/planning/tasks/plan_choice.h"

namespace pareto::tasks {

struct AdmissionRule {
  std::string name;   ///< "deadline"
  std::string about;  ///< half a sentence for --help
  /// Returns for each task whether it is run.
  std::vector<bool> (*admit)(const PlanRequest& request);
};

/// Returns every rule of this build, "all" first.
const std::vector<AdmissionRule>& admission_rules();
std::vector<std::string> admission_rule_names();
/// Finds a rule by its name. Fails: kNotFound with the nearest names.
Expected<const AdmissionRule*> find_admission_rule(std::string_view name);

/// Admits every task.
std::vector<bool> admit_all(const PlanRequest& request);
/// Refuses tasks until, earliest deadline first and whole, none is predicted to be late (after
/// Moore, 1968): of those that end no later than the first late one it refuses the least urgent,
/// and of equals the longest. A task without a deadline is never refused. Of many tasks
/// several are refused at a time.
std::vector<bool> admit_by_deadline(const PlanRequest& request);

}  // namespace pareto::tasks
