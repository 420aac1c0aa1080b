#include "partitioner/planning/tasks/worker_plans.h"

#include <algorithm>

namespace pareto::tasks {

Nanoseconds WorkerPlans::earliest_start(std::size_t worker, Nanoseconds ready,
                                        Nanoseconds time) const {
  Nanoseconds start = ready;
  for (const Placed& placed : plans_[worker]) {
    if (start + time <= placed.placement.start) return start;
    start = std::max(start, placed.placement.finish);
  }
  return start;
}

Placement WorkerPlans::earliest_finish(Turn turn) const {
  const PlannedTask& task = problem_.tasks[turn.task];
  const StageCost& stage = task.stages[turn.stage];
  const auto& before = ends_[turn.task];
  const Nanoseconds ready = before ? before->finish : task.arrival;
  std::optional<Placement> best;
  for (std::size_t worker = 0; worker < plans_.size(); ++worker) {
    const Nanoseconds time = problem_.time_on(worker, stage);
    const Nanoseconds start = earliest_start(worker, ready, time);
    if (!best || start + time < best->finish) best = Placement{worker, start, start + time};
  }
  return *best;
}

void WorkerPlans::place(Turn turn, const Placement& placement) {
  std::vector<Placed>& plan = plans_[placement.worker];
  const auto at = std::ranges::upper_bound(
      plan, placement.start, {}, [](const Placed& placed) { return placed.placement.start; });
  plan.insert(at, {turn, placement});
  ends_[turn.task] = placement;
}

Assignment WorkerPlans::assignment() const {
  Assignment assignment;
  for (const std::vector<Placed>& plan : plans_) {
    std::vector<Turn>& queue = assignment.queues.emplace_back();
    for (const Placed& placed : plan) queue.push_back(placed.turn);
  }
  return assignment;
}

}  // namespace pareto::tasks
