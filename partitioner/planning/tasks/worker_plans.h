// Workers' plans under construction: what each of them runs when, by predicted times.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "partitioner/planning/tasks/task_problem.h"

namespace pareto::tasks {

/// A place for a stage on a worker.
struct Placement {
  std::size_t worker = 0;
  Nanoseconds start{};
  Nanoseconds finish{};
};

/// The turns of each worker so far, with the time at which each begins and ends.
///
/// Threads: one owner.
class WorkerPlans {
 public:
  /// The problem outlives this object.
  explicit WorkerPlans(const Problem& problem)
      : problem_(problem), plans_(problem.workers.size()), ends_(problem.tasks.size()) {}

  /// Returns where a stage ends first, in a gap or behind all; the stage before it is placed.
  Placement earliest_finish(Turn turn) const;
  void place(Turn turn, const Placement& placement);
  /// Returns a queue for each worker.
  Assignment assignment() const;

 private:
  struct Placed {
    Turn turn;
    Placement placement;
  };
  Nanoseconds earliest_start(std::size_t worker, Nanoseconds ready, Nanoseconds time) const;

  const Problem& problem_;
  std::vector<std::vector<Placed>> plans_;      ///< plan of each worker, by start
  std::vector<std::optional<Placement>> ends_;  ///< of each task the last stage that is placed
};

}  // namespace pareto::tasks
