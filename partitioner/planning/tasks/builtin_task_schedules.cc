#include <algorithm>

#include "core/base/text.h"
#include "partitioner/planning/tasks/task_schedule.h"

namespace pareto::tasks {

const std::vector<TaskSchedule>& builtin_task_schedules() {
  static const std::vector<TaskSchedule> kSchedules{
      {"queue", "in the order in which tasks come", assign_queue},
      {"longest", "what has most left to do goes first", assign_longest},
      {"heft", "by critical path, each stage where it ends first", assign_heft},
      {"eft", "the stage that ends first, where it ends first", assign_eft},
      {"stealing", "a queue for each worker; idle ones take from others", assign_stealing},
      {"deadline", "earliest deadline first", assign_deadline},
      {"priority", "largest priority first", assign_priority},
  };
  return kSchedules;
}

std::vector<std::string> task_schedule_names() {
  std::vector<std::string> names{std::string(kAutoTaskSchedule)};
  for (const TaskSchedule& schedule : builtin_task_schedules()) names.push_back(schedule.name);
  return names;
}

Expected<const TaskSchedule*> find_task_schedule(std::string_view name) {
  const auto& all = builtin_task_schedules();
  const auto found = std::ranges::find(all, name, &TaskSchedule::name);
  if (found != all.end()) return &*found;
  const auto names = task_schedule_names();
  return fail(ErrorCode::kNotFound, "no schedule \"{}\"{}; there are {}", name,
              did_you_mean(name, names), join(names));
}

}  // namespace pareto::tasks
