// What a schedule of tasks is made from: stages and their times, workers, and what it costs to hand
// values from one worker to another. Free of models and threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/clock.h"

namespace pareto::tasks {

/// A part of a task. The stages of a task run one after the other, on any workers.
struct StageCost {
  Nanoseconds time{};       ///< on a worker of speed 1, while the other workers compute too
  std::uint64_t bytes = 0;  ///< bytes of the values that the stage before hands over
};

struct PlannedTask {
  Nanoseconds arrival{};
  std::optional<Nanoseconds> deadline{};  ///< a moment, as the arrival is
  int priority = 0;
  std::vector<StageCost> stages{};  ///< one at least

  /// Returns the time of this stage and of all that follow it.
  Nanoseconds time_from(std::size_t stage) const;
};

struct WorkerFacts {
  std::size_t device = 0;  ///< workers of one device hand values over without copies
  double speed = 1;        ///< times as fast as the worker that stages were timed on
};

/// The cost of values that cross from one device to another.
struct Passage {
  Nanoseconds latency{};
  double ns_per_byte = 0;
};

struct Problem {
  std::vector<WorkerFacts> workers{};  ///< one at least
  std::vector<PlannedTask> tasks{};
  Passage passage{};

  /// Returns how long a worker takes for a stage.
  Nanoseconds time_on(std::size_t worker, const StageCost& stage) const;
  /// Returns how long the values of a stage take from the worker before it.
  Nanoseconds hand_over(std::size_t from, std::size_t to, const StageCost& stage) const;
  std::size_t stages() const;  ///< number of all tasks' stages
};

/// One stage of one task, by its indices.
struct Turn {
  std::size_t task = 0;
  std::size_t stage = 0;
  auto operator<=>(const Turn&) const = default;
};

/// Queues of turns. A free worker takes the first turn of its queue that is ready: its task has
/// come, and the stage before it is done.
struct Assignment {
  /// One queue that all workers take from, or one for each worker.
  std::vector<std::vector<Turn>> queues{};
  /// A worker whose own queue has nothing ready takes what is ready from the end of another.
  bool steals = false;

  bool is_shared() const { return queues.size() == 1; }
};

/// Returns all turns of a problem, task by task.
std::vector<Turn> all_turns(const Problem& problem);

}  // namespace pareto::tasks
