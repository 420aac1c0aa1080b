// Earliest finish time (min-min): of all stages that could be placed, the one that ends first is.
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "partitioner/planning/tasks/task_schedule.h"
#include "partitioner/planning/tasks/worker_plans.h"

namespace pareto::tasks {
namespace {

/// A stage that could be placed, and where, when that was worked out.
struct Ready {
  Turn turn{};
  Placement place{};
  std::size_t placed = 0;  ///< stages that its worker had by then

  /// Returns whether it is placed after the other. If both end at one time, the first task comes
  /// first.
  bool operator>(const Ready& other) const {
    return std::pair(place.finish, turn.task) > std::pair(other.place.finish, other.turn.task);
  }
};

}  // namespace

Assignment assign_eft(const Problem& problem) {
  WorkerPlans plans(problem);
  std::vector<std::size_t> placed(problem.workers.size());
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  const auto add = [&](Turn turn) {
    const Placement place = plans.earliest_finish(turn);
    ready.push({turn, place, placed[place.worker]});
  };
  for (std::size_t task = 0; task < problem.tasks.size(); ++task) add({task, 0});
  while (!ready.empty()) {
    const Ready first = ready.top();
    ready.pop();
    // A stage never ends earlier because others were placed. So the first one is the best, if its
    // place is still free.
    if (placed[first.place.worker] != first.placed) {
      add(first.turn);
      continue;
    }
    plans.place(first.turn, first.place);
    ++placed[first.place.worker];
    if (first.turn.stage + 1 < problem.tasks[first.turn.task].stages.size()) {
      add({first.turn.task, first.turn.stage + 1});
    }
  }
  return plans.assignment();
}

}  // namespace pareto::tasks
