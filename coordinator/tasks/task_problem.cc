#include "coordinator/tasks/task_problem.h"

namespace pareto::tasks {

Nanoseconds PlannedTask::time_from(std::size_t stage) const {
  Nanoseconds sum{};
  for (; stage < stages.size(); ++stage) sum += stages[stage].time;
  return sum;
}

Nanoseconds Problem::time_on(std::size_t worker, const StageCost& stage) const {
  const double speed = workers[worker].speed;
  return speed == 1 ? stage.time : from_nanoseconds(to_nanoseconds(stage.time) / speed);
}

Nanoseconds Problem::hand_over(std::size_t from, std::size_t to, const StageCost& stage) const {
  if (workers[from].device == workers[to].device) return {};
  return passage.latency + from_nanoseconds(passage.ns_per_byte * static_cast<double>(stage.bytes));
}

std::size_t Problem::stages() const {
  std::size_t count = 0;
  for (const PlannedTask& task : tasks) count += task.stages.size();
  return count;
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
