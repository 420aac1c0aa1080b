#include "coordinator/tasks/task_runner.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "partitioner/planning/tasks/turn_dispatch.h"

namespace pareto::tasks {
namespace {

/// The time after which one who waits looks whether somebody wants to stop.
constexpr auto kPatience = std::chrono::milliseconds(50);

/// One run, which all workers share.
class SharedRun {
 public:
  SharedRun(const Problem& problem, const Assignment& assignment, const std::vector<TaskJob>& jobs,
            const std::atomic<bool>& stop)
      : problem_(problem), jobs_(jobs), stop_(stop), dispatch_(problem, assignment) {
    for (const TaskJob& job : jobs) values_.push_back(job.inputs);
    run_.outputs.resize(jobs.size());
    begin_ = SteadyClock().now();
  }

  /// Works until nothing is left for the worker.
  void work(std::size_t number, Worker& worker) {
    std::unique_lock lock(mutex_);
    while (!error_) {
      // Its device may have been lost by another worker, or before.
      if (worker.is_lost()) {
        dispatch_.lose(number);
        break;
      }
      if (stop_) {
        run_.stopped = true;
        break;
      }
      const NextTurn next = dispatch_.next(number, now());
      switch (next.kind) {
        case NextTurn::Kind::kDone:
          return;
        case NextTurn::Kind::kWaitForOthers:
          changed_.wait_for(lock, kPatience);
          break;
        case NextTurn::Kind::kWaitUntil:
          changed_.wait_until(lock, std::min(begin_ + next.until, SteadyClock().now() + kPatience));
          break;
        case NextTurn::Kind::kRun:
          run_turn(lock, next.turn, number, worker);
          break;
      }
    }
    changed_.notify_all();
  }

  Expected<TaskRun> finish() {
    if (error_) return tl::unexpected(*std::move(error_));
    std::ranges::stable_sort(run_.timeline.spans, {}, &StageSpan::finish);
    // What was asked to stop after its last stage is whole.
    if (run_.timeline.spans.size() == problem_.stages()) run_.stopped = false;
    return std::move(run_);
  }

 private:
  Nanoseconds now() const { return SteadyClock().now() - begin_; }

  void run_turn(std::unique_lock<std::mutex>& lock, Turn turn, std::size_t number, Worker& worker) {
    std::vector<Value> inputs = std::exchange(values_[turn.task], {});
    std::vector<Value> kept;
    if (worker.may_be_lost()) kept = inputs;
    lock.unlock();
    const Nanoseconds start = now();
    auto outputs = worker.run(jobs_[turn.task].stages[turn.stage], std::move(inputs));
    const Nanoseconds finish = now();
    lock.lock();
    if (!outputs && worker.is_lost()) {
      run_.losses.push_back({number, std::move(outputs).error()});
      values_[turn.task] = std::move(kept);
      dispatch_.put_back(turn, number);
      return;
    }
    if (!outputs) {
      if (!error_) {
        error_ = std::move(outputs).error();
        error_->message =
            fmt::format("task {}, stage {}: {}", turn.task, turn.stage, error_->message);
      }
      return;
    }
    run_.timeline.spans.push_back({turn, number, start, finish});
    const bool is_last = turn.stage + 1 == problem_.tasks[turn.task].stages.size();
    (is_last ? run_.outputs : values_)[turn.task] = *std::move(outputs);
    dispatch_.finish(turn, finish);
    changed_.notify_all();
  }

  const Problem& problem_;
  const std::vector<TaskJob>& jobs_;
  const std::atomic<bool>& stop_;
  TimePoint begin_{};
  std::mutex mutex_;
  std::condition_variable changed_;
  TurnDispatch dispatch_;                   ///< under the mutex, as all below
  std::vector<std::vector<Value>> values_;  ///< inputs of each task's next stage
  TaskRun run_;
  std::optional<Error> error_;
};

}  // namespace

Expected<TaskRun> run_tasks(WorkerCrew& crew, const Workers& workers, const Problem& problem,
                            const Assignment& assignment, const std::vector<TaskJob>& jobs,
                            const std::atomic<bool>& stop) {
  SharedRun run(problem, assignment, jobs, stop);
  crew.run([&](std::size_t number) {
    if (number < problem.workers.size()) run.work(number, *workers[number]);
  });
  return run.finish();
}

}  // namespace pareto::tasks
