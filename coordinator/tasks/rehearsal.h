// Measures on a TaskBench what predictions are made from.
#pragma once

#include <atomic>
#include <vector>

#include "coordinator/tasks/task_bench.h"

namespace pareto::tasks {

/// Measures whole models and stages on tasks like these, which come together, with all workers at
/// work: they share the machine's memory. Each device gets all of them. Fails: as run_tasks();
/// kUnavailable if a device is lost; kClosed if it was stopped.
Expected<std::vector<ModelCosts>> rehearse(TaskBench& bench, const TaskSet& set,
                                           const std::atomic<bool>& stop);

}  // namespace pareto::tasks
