#include "partitioner/planning/tasks/task_problem.h"

namespace pareto::tasks {

Nanoseconds PlannedTask::time_from(std::size_t stage) const {
  Nanoseconds sum{};
  for (; stage < stages.size(); ++stage) sum += stages[stage].time;
  return sum;
}

Nanoseconds Problem::time_on(std::size_t worker, const StageCost& stage) const {
  return stage.on_device.empty() ? stage.time : stage.on_device[workers[worker].device];
}

std::size_t Problem::stages() const {
  std::size_t count = 0;
  for (const PlannedTask& task : tasks) count += task.stages.size();
  return count;
}

std::size_t Assignment::queue_of_worker(std::size_t worker) const {
  if (!queue_of.empty()) return queue_of[worker];
  return queues.size() == 1 ? 0 : worker;
}

std::vector<Turn> all_turns(const Problem& problem) {
  std::vector<Turn> turns;
  turns.reserve(problem.stages());
  for (std::size_t task = 0; task < problem.tasks.size(); ++task) {
    for (std::size_t stage = 0; stage < problem.tasks[task].stages.size(); ++stage) {
      turns.push_back({task, stage});
    }
  }
  return turns;
}

}  // namespace pareto::tasks
