// Chooses the turn that a free worker takes. Predictions and real runs ask the same object, so that
// both follow one rule.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "partitioner/planning/tasks/task_problem.h"

namespace pareto::tasks {

/// The next step of a free worker.
struct NextTurn {
  enum class Kind {
    kRun,            ///< it runs `turn`
    kWaitUntil,      ///< nothing is ready before `until`, unless another worker ends a stage
    kWaitForOthers,  ///< nothing is ready before another worker ends a stage
    kDone,           ///< every stage is done
  };
  Kind kind = Kind::kDone;
  Turn turn{};
  Nanoseconds until{};
};

/// The state of a run: what is taken, and what is done.
///
/// Threads: one at a time.
class TurnDispatch {
 public:
  /// Both outlive this object. The assignment has passed check().
  TurnDispatch(const Problem& problem, const Assignment& assignment);

  /// Takes the next turn for a worker that is free. Once `kDone`, it stays so.
  NextTurn next(std::size_t worker, Nanoseconds now);
  /// Notes that a worker has run a turn which it took.
  void finish(Turn turn, Nanoseconds now);
  /// Notes that a worker runs nothing more. What its queue holds goes to the others, if nobody else
  /// takes from that queue.
  void lose(std::size_t worker);
  /// Gives a turn back that a worker took and did not run.
  void put_back(Turn turn, std::size_t worker);

 private:
  /// The end of a task's last stage that was run.
  struct Progress {
    std::size_t done = 0;  ///< stages
    Nanoseconds end{};
  };
  /// Returns from when on a turn may be run; no value: a stage before it is not done.
  std::optional<Nanoseconds> ready_at(Turn turn) const;
  bool is_orphaned(std::size_t queue) const { return workers_of_[queue] == 0; }

  const Problem& problem_;
  const Assignment& assignment_;
  std::vector<std::vector<Turn>> queues_;  ///< turns that nobody has taken
  std::vector<std::size_t> workers_of_;    ///< workers of each queue that are not lost
  std::vector<Progress> progress_;         ///< progress of each task
  std::size_t left_;                       ///< stages that are not done
};

}  // namespace pareto::tasks
