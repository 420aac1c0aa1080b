#include "partitioner/planning/tasks/assignment_check.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace pareto::tasks {
namespace {

/// Counts the turns of each stage. Fails on one that there is not, or that comes twice.
class TurnCount {
 public:
  explicit TurnCount(const Problem& problem) : problem_(problem) {}

  Expected<> add(Turn turn) {
    if (turn.task >= problem_.tasks.size() ||
        turn.stage >= problem_.tasks[turn.task].stages.size()) {
      return fail(ErrorCode::kInternal, "task {} has no stage {}", turn.task, turn.stage);
    }
    if (++counts_[turn] > 1) {
      return fail(ErrorCode::kInternal, "task {}: stage {} runs twice", turn.task, turn.stage);
    }
    return {};
  }

  Expected<> finish() const {
    for (const Turn turn : all_turns(problem_)) {
      if (counts_.contains(turn)) continue;
      return fail(ErrorCode::kInternal, "task {}: stage {} is never run", turn.task, turn.stage);
    }
    return {};
  }

 private:
  const Problem& problem_;
  std::map<Turn, int> counts_;
};

/// Checks that each worker has a queue. A queue of turns that no worker takes from would wait for
/// ever.
Expected<> check_queues(const Assignment& assignment, std::size_t workers) {
  const std::size_t named = assignment.queue_of.size();
  if (named != 0 ? named != workers
                 : assignment.queues.size() != 1 && assignment.queues.size() != workers) {
    return fail(ErrorCode::kInternal, "{} queues for {} workers",
                named != 0 ? named : assignment.queues.size(), workers);
  }
  std::vector<bool> has_worker(assignment.queues.size());
  for (std::size_t worker = 0; worker < workers; ++worker) {
    const std::size_t queue = assignment.queue_of_worker(worker);
    if (queue >= has_worker.size()) {
      return fail(ErrorCode::kInternal, "worker {} has no queue {}", worker, queue);
    }
    has_worker[queue] = true;
  }
  for (std::size_t queue = 0; queue < has_worker.size(); ++queue) {
    if (has_worker[queue] || assignment.queues[queue].empty()) continue;
    return fail(ErrorCode::kInternal, "no worker takes from queue {}", queue);
  }
  return {};
}

}  // namespace

Expected<> check(const Assignment& assignment, const Problem& problem) {
  PARETO_TRY(check_queues(assignment, problem.workers.size()));
  TurnCount count(problem);
  for (const std::vector<Turn>& queue : assignment.queues) {
    for (const Turn turn : queue) PARETO_TRY(count.add(turn));
  }
  return count.finish();
}

Expected<> check(const Timeline& timeline, const Problem& problem) {
  TurnCount count(problem);
  std::map<Turn, const StageSpan*> spans;
  for (const StageSpan& span : timeline.spans) {
    PARETO_TRY(count.add(span.turn));
    spans[span.turn] = &span;
    if (span.start < problem.tasks[span.turn.task].arrival) {
      return fail(ErrorCode::kInternal, "task {} runs before it comes", span.turn.task);
    }
  }
  PARETO_TRY(count.finish());
  for (const auto& [turn, span] : spans) {
    if (turn.stage == 0) continue;
    const StageSpan& before = *spans.at({turn.task, turn.stage - 1});
    if (span->start < before.finish) {
      return fail(ErrorCode::kInternal, "task {}: stage {} begins before the one before it is done",
                  turn.task, turn.stage);
    }
  }
  std::vector<StageSpan> ordered = timeline.spans;
  std::ranges::sort(ordered, [](const StageSpan& a, const StageSpan& b) {
    return std::tie(a.worker, a.start, a.finish) < std::tie(b.worker, b.start, b.finish);
  });
  for (std::size_t i = 1; i < ordered.size(); ++i) {
    if (ordered[i].worker == ordered[i - 1].worker && ordered[i].start < ordered[i - 1].finish) {
      return fail(ErrorCode::kInternal, "worker {} runs two stages at a time", ordered[i].worker);
    }
  }
  return {};
}

}  // namespace pareto::tasks
