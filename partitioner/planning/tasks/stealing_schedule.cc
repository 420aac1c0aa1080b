// Tasks are dealt to workers as evenly as their times allow. A worker with nothing left takes from
// the end of another's queue.
#include <algorithm>

#include "partitioner/planning/tasks/task_schedule.h"

namespace pareto::tasks {

Assignment assign_stealing(const Problem& problem) {
  Assignment assignment{.queues = {}, .steals = true};
  assignment.queues.resize(problem.workers.size());
  std::vector<Nanoseconds> loads(problem.workers.size());
  const Assignment by_length = assign_longest(problem);
  for (const Turn turn : by_length.queues.front()) {
    if (turn.stage > 0) continue;
    const PlannedTask& task = problem.tasks[turn.task];
    std::size_t least = 0;
    const auto load_with = [&](std::size_t worker) {
      Nanoseconds load = loads[worker];
      for (const StageCost& stage : task.stages) load += problem.time_on(worker, stage);
      return load;
    };
    for (std::size_t worker = 1; worker < loads.size(); ++worker) {
      if (load_with(worker) < load_with(least)) least = worker;
    }
    loads[least] = load_with(least);
    for (std::size_t stage = 0; stage < task.stages.size(); ++stage) {
      assignment.queues[least].push_back({turn.task, stage});
    }
  }
  // What comes first is run first: what has not come yet would only be passed over.
  for (std::vector<Turn>& queue : assignment.queues) {
    std::ranges::stable_sort(queue, {},
                             [&](Turn turn) { return problem.tasks[turn.task].arrival; });
  }
  return assignment;
}

}  // namespace pareto::tasks
