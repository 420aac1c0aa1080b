// Earliest finish time (min-min): of all stages that could be placed, the one that ends first is.
#include <iterator>

#include "coordinator/tasks/task_schedule.h"
#include "coordinator/tasks/worker_plans.h"

namespace pareto::tasks {

Assignment assign_eft(const Problem& problem) {
  WorkerPlans plans(problem);
  std::vector<Turn> ready;
  for (std::size_t task = 0; task < problem.tasks.size(); ++task) ready.push_back({task, 0});
  while (!ready.empty()) {
    auto best = ready.begin();
    Placement place = plans.earliest_finish(*best);
    for (auto at = std::next(ready.begin()); at != ready.end(); ++at) {
      const Placement other = plans.earliest_finish(*at);
      if (other.finish >= place.finish) continue;
      best = at;
      place = other;
    }
    plans.place(*best, place);
    if (++best->stage == problem.tasks[best->task].stages.size()) ready.erase(best);
  }
  return plans.assignment();
}

}  // namespace pareto::tasks
