// Checks that an assignment can be run, and that what was run is what it should be.
#pragma once

#include "core/base/error.h"
#include "partitioner/planning/tasks/task_problem.h"
#include "partitioner/planning/tasks/task_timeline.h"

namespace pareto::tasks {

/// Checks that each stage has one turn, that each worker has a queue, and each queue a worker.
/// Fails: kInternal naming the task and the stage.
Expected<> check(const Assignment& assignment, const Problem& problem);

/// Checks a timeline in which all was run: each stage once, after its task has come and after the
/// stage before it; no worker runs two at a time. Fails: kInternal, as check().
Expected<> check(const Timeline& timeline, const Problem& problem);

}  // namespace pareto::tasks
