#include "partitioner/planning/tasks/shared_order.h"
#include "partitioner/planning/tasks/task_schedule.h"

namespace pareto::tasks {

Assignment assign_deadline(const Problem& problem) {
  return shared_order(problem, [&](Turn a, Turn b) {
    const auto& first = problem.tasks[a.task].deadline;
    const auto& second = problem.tasks[b.task].deadline;
    return first && (!second || *first < *second);
  });
}

}  // namespace pareto::tasks
