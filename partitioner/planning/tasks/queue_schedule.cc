#include "partitioner/planning/tasks/shared_order.h"
#include "partitioner/planning/tasks/task_schedule.h"

namespace pareto::tasks {

Assignment assign_queue(const Problem& problem) {
  return shared_order(problem, [](Turn, Turn) { return false; });
}

}  // namespace pareto::tasks
