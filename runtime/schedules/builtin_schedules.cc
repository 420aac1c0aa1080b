#include "core/plan/stage_settings.h"
#include "runtime/schedules/schedule.h"

namespace pareto::schedules {

const std::vector<ScheduleEntry>& builtin_schedules() {
  static const std::vector<ScheduleEntry> kSchedules{
      {"sequential", "One operator after the other, each with all threads.", make_sequential},
      {"clusters", "Chains of operators side by side, each on a worker of its own.", make_clusters},
      {"mixed", "The better of both for each stretch of the model, by measured times.", make_mixed},
      {"microbatch", "A batch split over the workers, each of which runs all operators.",
       make_microbatch},
      {plan::kOverlapSchedule,
       "Half of a batch is computed while the other half is sent; in a device as microbatch.",
       make_microbatch},
      {"program", "Your own: rules in a file say who runs what, and in which order.", make_program},
  };
  return kSchedules;
}

const std::vector<std::string>& schedule_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const ScheduleEntry& schedule : builtin_schedules()) names.push_back(schedule.name);
    return names;
  }();
  return kNames;
}

}  // namespace pareto::schedules
