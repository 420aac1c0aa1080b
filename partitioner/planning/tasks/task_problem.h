// What a schedule of tasks is made from: stages, workers, and the times that these take for those.
// Free of models and threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"

namespace pareto::tasks {

/// A part of a task. The stages of a task run one after the other, on any workers.
struct StageCost {
  Nanoseconds time{};       ///< while the other workers compute too; the mean of all workers
  std::uint64_t bytes = 0;  ///< bytes of the values that the stage before hands over
  /// The time on each device. It holds what values take to the device and back. Empty: `time` on
  /// all of them.
  std::vector<Nanoseconds> on_device{};
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
  std::size_t device = 0;
  std::string name{};  ///< "server 2"; empty: its number says enough
};

struct Problem {
  std::vector<WorkerFacts> workers{};  ///< one at least
  std::vector<PlannedTask> tasks{};

  /// Returns how long a worker takes for a stage.
  Nanoseconds time_on(std::size_t worker, const StageCost& stage) const;
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
  std::vector<std::vector<Turn>> queues{};
  /// The queue of each worker. Empty: all workers take from the only queue, or each has its own.
  std::vector<std::size_t> queue_of{};
  /// A worker whose own queue has nothing ready takes what is ready from the end of another.
  bool steals = false;

  /// Returns the queue that a worker takes from.
  std::size_t queue_of_worker(std::size_t worker) const;
};

/// Returns all turns of a problem, task by task.
std::vector<Turn> all_turns(const Problem& problem);

}  // namespace pareto::tasks
