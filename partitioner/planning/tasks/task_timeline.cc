#include "partitioner/planning/tasks/task_timeline.h"

#include <algorithm>

#include "partitioner/planning/tasks/turn_dispatch.h"

namespace pareto::tasks {

Nanoseconds Timeline::makespan() const {
  Nanoseconds last{};
  for (const StageSpan& span : spans) last = std::max(last, span.finish);
  return last;
}

Timeline predict(const Problem& problem, const Assignment& assignment) {
  TurnDispatch dispatch(problem, assignment);
  std::vector<std::optional<StageSpan>> running(problem.workers.size());
  Timeline timeline;
  for (Nanoseconds now{};;) {
    std::optional<Nanoseconds> next;
    const auto look_at = [&](Nanoseconds moment) {
      if (!next || moment < *next) next = moment;
    };
    for (std::size_t worker = 0; worker < running.size(); ++worker) {
      if (!running[worker]) {
        const NextTurn taken = dispatch.next(worker, now);
        if (taken.kind == NextTurn::Kind::kRun) {
          const StageCost& stage = problem.tasks[taken.turn.task].stages[taken.turn.stage];
          running[worker] =
              StageSpan{taken.turn, worker, now, now + problem.time_on(worker, stage)};
        } else if (taken.kind == NextTurn::Kind::kWaitUntil) {
          look_at(taken.until);
        }
      }
      if (running[worker]) look_at(running[worker]->finish);
    }
    if (!next) return timeline;
    now = *next;
    for (auto& span : running) {
      if (!span || span->finish > now) continue;
      dispatch.finish(span->turn, span->finish);
      timeline.spans.push_back(*span);
      span.reset();
    }
  }
}

RunFigures figures_of(const Timeline& timeline, const Problem& problem,
                      const std::vector<Nanoseconds>& alone) {
  RunFigures figures;
  figures.makespan = timeline.makespan();
  figures.tasks.resize(problem.tasks.size());
  figures.workers.resize(problem.workers.size());
  for (const StageSpan& span : timeline.spans) {
    WorkerUse& worker = figures.workers[span.worker];
    ++worker.stages;
    worker.busy += span.finish - span.start;
    if (span.turn.stage + 1 == problem.tasks[span.turn.task].stages.size()) {
      figures.tasks[span.turn.task].finish = span.finish;
    }
  }
  double completion = 0;
  for (std::size_t i = 0; i < figures.tasks.size(); ++i) {
    TaskOutcome& task = figures.tasks[i];
    const PlannedTask& planned = problem.tasks[i];
    task.missed = planned.deadline && (!task.finish || *task.finish > *planned.deadline);
    if (task.missed) ++figures.misses;
    if (!task.finish) continue;
    ++figures.done;
    task.completion = *task.finish - planned.arrival;
    completion += to_nanoseconds(task.completion);
    if (i < alone.size() && alone[i].count() > 0) {
      task.slowdown = to_nanoseconds(task.completion) / to_nanoseconds(alone[i]);
      figures.mean_slowdown += task.slowdown;
    }
  }
  if (figures.done > 0) {
    const auto done = static_cast<double>(figures.done);
    figures.mean_completion = from_nanoseconds(completion / done);
    figures.mean_slowdown /= done;
  }
  const double makespan = to_nanoseconds(figures.makespan);
  if (makespan > 0) {
    figures.throughput_per_s = static_cast<double>(figures.done) / (makespan / 1e9);
    for (WorkerUse& worker : figures.workers) worker.share = to_nanoseconds(worker.busy) / makespan;
  }
  return figures;
}

}  // namespace pareto::tasks
