#include "partitioner/planning/tasks/turn_dispatch.h"

#include <algorithm>

namespace pareto::tasks {

TurnDispatch::TurnDispatch(const Problem& problem, const Assignment& assignment)
    : problem_(problem),
      assignment_(assignment),
      queues_(assignment.queues),
      workers_of_(assignment.queues.size()),
      progress_(problem.tasks.size()),
      left_(problem.stages()) {
  for (std::size_t worker = 0; worker < problem.workers.size(); ++worker) {
    ++workers_of_[assignment.queue_of_worker(worker)];
  }
}

std::optional<Nanoseconds> TurnDispatch::ready_at(Turn turn) const {
  const Progress& progress = progress_[turn.task];
  if (progress.done != turn.stage) return std::nullopt;
  return turn.stage == 0 ? problem_.tasks[turn.task].arrival : progress.end;
}

NextTurn TurnDispatch::next(std::size_t worker, Nanoseconds now) {
  if (left_ == 0) return {};
  const std::size_t own = assignment_.queue_of_worker(worker);
  NextTurn next{.kind = NextTurn::Kind::kWaitForOthers};
  const auto take = [&](std::vector<Turn>& queue, std::vector<Turn>::iterator at) {
    next = {NextTurn::Kind::kRun, *at, {}};
    queue.erase(at);
  };
  // Looks at one turn: returns whether it is ready, and notes when it will be.
  const auto is_ready = [&](Turn turn) {
    const auto ready = ready_at(turn);
    if (!ready) return false;
    if (*ready <= now) return true;
    if (next.kind != NextTurn::Kind::kWaitUntil || *ready < next.until) {
      next.kind = NextTurn::Kind::kWaitUntil;
      next.until = *ready;
    }
    return false;
  };
  const auto take_first = [&](std::vector<Turn>& queue) {
    const auto at = std::ranges::find_if(queue, is_ready);
    if (at == queue.end()) return false;
    take(queue, at);
    return true;
  };
  if (take_first(queues_[own])) return next;
  for (std::size_t other = 0; other < queues_.size(); ++other) {
    if (other != own && is_orphaned(other) && take_first(queues_[other])) return next;
  }
  for (std::size_t other = 0; assignment_.steals && other < queues_.size(); ++other) {
    if (other == own) continue;
    std::vector<Turn>& queue = queues_[other];
    const auto at = std::find_if(queue.rbegin(), queue.rend(), is_ready);
    if (at == queue.rend()) continue;
    take(queue, std::prev(at.base()));
    return next;
  }
  return next;
}

void TurnDispatch::finish(Turn turn, Nanoseconds now) {
  progress_[turn.task] = {turn.stage + 1, now};
  --left_;
}

void TurnDispatch::lose(std::size_t worker) { --workers_of_[assignment_.queue_of_worker(worker)]; }

void TurnDispatch::put_back(Turn turn, std::size_t worker) {
  std::vector<Turn>& queue = queues_[assignment_.queue_of_worker(worker)];
  queue.insert(queue.begin(), turn);
}

}  // namespace pareto::tasks
