#include "coordinator/tasks/assignment_check.h"

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

}  // namespace

Expected<> check(const Assignment& assignment, const Problem& problem) {
  if (!assignment.is_shared() && assignment.queues.size() != problem.workers.size()) {
    return fail(ErrorCode::kInternal, "{} queues for {} workers", assignment.queues.size(),
                problem.workers.size());
  }
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
