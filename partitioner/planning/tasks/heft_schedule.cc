// List scheduling by critical path (Topcuoglu, Hariri & Wu, 2002): what has the longest way to its
// task's end is placed first, on the worker where it ends first.
#include "partitioner/planning/tasks/task_schedule.h"
#include "partitioner/planning/tasks/worker_plans.h"

namespace pareto::tasks {

Assignment assign_heft(const Problem& problem) {
  WorkerPlans plans(problem);
  // A task's stages form a chain, so that the order of what is left to do is a topological one.
  const Assignment by_length = assign_longest(problem);
  for (const Turn turn : by_length.queues.front()) {
    plans.place(turn, plans.earliest_finish(turn));
  }
  return plans.assignment();
}

}  // namespace pareto::tasks
