// Runs tasks on workers as an assignment has it, and notes who ran what when.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "coordinator/tasks/worker.h"
#include "coordinator/tasks/worker_crew.h"
#include "core/base/error.h"
#include "core/tensor/value.h"
#include "partitioner/planning/tasks/task_problem.h"
#include "partitioner/planning/tasks/task_timeline.h"

namespace pareto::tasks {

/// The work of one task of a problem.
struct TaskJob {
  std::vector<StageId> stages;  ///< one for each of its planned stages
  std::vector<Value> inputs;
};

/// A worker that was lost during a run.
struct WorkerLoss {
  std::size_t worker = 0;
  Error error;
};

struct TaskRun {
  Timeline timeline;
  std::vector<std::vector<Value>> outputs;  ///< outputs by task; none if it was not done
  bool stopped = false;                     ///< not all was run, because somebody wanted to stop
  /// Workers that were lost. Others ran their stages, unless none was left.
  std::vector<WorkerLoss> losses{};
};

/// Runs all jobs, by as many workers as the problem has. The assignment has passed check(). When
/// `stop` becomes true, stages that have begun are ended, and no other begins. Workers that were
/// lost before are left out.
/// Fails: the first error of a worker that is not lost, with the task and the stage.
Expected<TaskRun> run_tasks(WorkerCrew& crew, const Workers& workers, const Problem& problem,
                            const Assignment& assignment, const std::vector<TaskJob>& jobs,
                            const std::atomic<bool>& stop);

}  // namespace pareto::tasks
