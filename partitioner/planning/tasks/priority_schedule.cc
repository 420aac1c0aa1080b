#include "partitioner/planning/tasks/shared_order.h"
#include "partitioner/planning/tasks/task_schedule.h"

namespace pareto::tasks {

Assignment assign_priority(const Problem& problem) {
  return shared_order(problem, [&](Turn a, Turn b) {
    return problem.tasks[a.task].priority > problem.tasks[b.task].priority;
  });
}

}  // namespace pareto::tasks
