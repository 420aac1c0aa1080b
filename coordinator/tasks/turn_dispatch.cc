#include "coordinator/tasks/turn_dispatch.h"

#include <algorithm>

namespace pareto::tasks {

TurnDispatch::TurnDispatch(const Problem& problem, const Assignment& assignment)
    : problem_(problem),
      queues_(assignment.queues),
      steals_(assignment.steals),
      progress_(problem.tasks.size()) {}

std::optional<Nanoseconds> TurnDispatch::ready_at(Turn turn, std::size_t worker) const {
  const PlannedTask& task = problem_.tasks[turn.task];
  const Progress& progress = progress_[turn.task];
  if (progress.done != turn.stage) return std::nullopt;
  if (turn.stage == 0) return task.arrival;
  return progress.end + problem_.hand_over(progress.worker, worker, task.stages[turn.stage]);
}

NextTurn TurnDispatch::next(std::size_t worker, Nanoseconds now) {
  const std::size_t own = queues_.size() == 1 ? 0 : worker;
  NextTurn next;
  const auto take = [&](std::vector<Turn>& queue, std::vector<Turn>::iterator at) {
    next = {NextTurn::Kind::kRun, *at, {}};
    queue.erase(at);
  };
  // Looks at one turn: returns whether it is ready, and notes when it will be.
  const auto is_ready = [&](Turn turn) {
    const auto ready = ready_at(turn, worker);
    if (ready && *ready <= now) return true;
    if (!ready) {
      if (next.kind == NextTurn::Kind::kDone) next.kind = NextTurn::Kind::kWaitForOthers;
    } else if (next.kind != NextTurn::Kind::kWaitUntil || *ready < next.until) {
      next.kind = NextTurn::Kind::kWaitUntil;
      next.until = *ready;
    }
    return false;
  };
  if (const auto at = std::ranges::find_if(queues_[own], is_ready); at != queues_[own].end()) {
    take(queues_[own], at);
    return next;
  }
  for (std::size_t other = 0; steals_ && other < queues_.size(); ++other) {
    if (other == own) continue;
    std::vector<Turn>& queue = queues_[other];
    const auto at = std::find_if(queue.rbegin(), queue.rend(), is_ready);
    if (at == queue.rend()) continue;
    take(queue, std::prev(at.base()));
    return next;
  }
  return next;
}

void TurnDispatch::finish(Turn turn, std::size_t worker, Nanoseconds now) {
  progress_[turn.task] = {turn.stage + 1, worker, now};
}

}  // namespace pareto::tasks
