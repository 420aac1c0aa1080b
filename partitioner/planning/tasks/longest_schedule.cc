#include "partitioner/planning/tasks/shared_order.h"
#include "partitioner/planning/tasks/task_schedule.h"

namespace pareto::tasks {

Assignment assign_longest(const Problem& problem) {
  return shared_order(problem, [&](Turn a, Turn b) {
    const PlannedTask& first = problem.tasks[a.task];
    const PlannedTask& second = problem.tasks[b.task];
    const Nanoseconds left = first.time_from(a.stage);
    const Nanoseconds other = second.time_from(b.stage);
    // Of equals the one in more stages: its later ones fill what is uneven at the end.
    if (left != other) return left > other;
    return first.stages.size() - a.stage > second.stages.size() - b.stage;
  });
}

}  // namespace pareto::tasks
