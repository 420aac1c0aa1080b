// How tasks are put to workers. A plug: one file that implements a schedule, one line in
// builtin_task_schedules.cc; judged by tests/partitioner/planning/tasks/task_schedule_test.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "partitioner/planning/tasks/task_problem.h"

namespace pareto::tasks {

struct TaskSchedule {
  std::string name;   ///< "heft"
  std::string about;  ///< half a sentence for --help
  /// Gives each stage its turn.
  Assignment (*assign)(const Problem& problem);
};

/// The name of the choice among all schedules, which choose_plan() makes.
inline constexpr std::string_view kAutoTaskSchedule = "auto";

/// Returns every schedule of this build, "queue" first.
const std::vector<TaskSchedule>& builtin_task_schedules();
/// Returns "auto", and the names of all schedules.
std::vector<std::string> task_schedule_names();
/// Finds a schedule by its name. Fails: kNotFound with the nearest names.
Expected<const TaskSchedule*> find_task_schedule(std::string_view name);

// One shared queue, from which free workers take.
Assignment assign_queue(const Problem& problem);
Assignment assign_longest(const Problem& problem);
Assignment assign_deadline(const Problem& problem);
Assignment assign_priority(const Problem& problem);
// A queue for each worker.
Assignment assign_heft(const Problem& problem);
Assignment assign_eft(const Problem& problem);
Assignment assign_stealing(const Problem& problem);

}  // namespace pareto::tasks
