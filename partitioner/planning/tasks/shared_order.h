// Schedules that are one queue in some order.
#pragma once

#include <algorithm>

#include "partitioner/planning/tasks/task_problem.h"

namespace pareto::tasks {

/// Returns one queue, in which `before(a, b)` decides which of two turns comes first. Equal turns
/// come as their tasks do, then as they are listed.
template <typename Before>
Assignment shared_order(const Problem& problem, const Before& before) {
  std::vector<Turn> turns = all_turns(problem);
  std::ranges::stable_sort(turns, {}, [&](Turn turn) { return problem.tasks[turn.task].arrival; });
  std::ranges::stable_sort(turns, before);
  return {.queues = {std::move(turns)}};
}

}  // namespace pareto::tasks
