// When each stage runs: predicted from times, or measured.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/base/clock.h"
#include "partitioner/planning/tasks/task_problem.h"

namespace pareto::tasks {

/// One turn that was run. Times count from the moment at which the run began.
struct StageSpan {
  Turn turn{};
  std::size_t worker = 0;
  Nanoseconds start{};
  Nanoseconds finish{};
};

struct Timeline {
  std::vector<StageSpan> spans{};  ///< in the order of their ends

  /// Returns the end of the last one.
  Nanoseconds makespan() const;
};

/// Predicts how an assignment, which has passed check(), will run.
Timeline predict(const Problem& problem, const Assignment& assignment);

/// The outcome of one task.
struct TaskOutcome {
  std::optional<Nanoseconds> finish{};  ///< no value: it was not done
  Nanoseconds completion{};             ///< from its arrival to its end
  double slowdown = 0;                  ///< completion against its time alone; 0: not known
  bool missed = false;                  ///< it ended after its deadline, or not at all
};

struct WorkerUse {
  std::size_t stages = 0;
  Nanoseconds busy{};
  double share = 0;  ///< share of the makespan, 0 to 1
};

/// The figures of one run.
struct RunFigures {
  Nanoseconds makespan{};
  double throughput_per_s = 0;  ///< tasks that were done
  std::size_t done = 0;
  std::size_t misses = 0;
  Nanoseconds mean_completion{};
  double mean_slowdown = 0;
  std::vector<TaskOutcome> tasks;
  std::vector<WorkerUse> workers;
};

/// Returns the figures of a timeline. `alone`: how long each task takes alone on one thread; empty:
/// not known.
RunFigures figures_of(const Timeline& timeline, const Problem& problem,
                      const std::vector<Nanoseconds>& alone);

}  // namespace pareto::tasks
