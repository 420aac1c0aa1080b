// Which tasks are split, and by which schedule all are run: chosen by prediction.
//
//   TaskSet + measured times of models, whole and in stages ──choose_plan──▶ TaskPlan
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "partitioner/planning/tasks/task.h"
#include "partitioner/planning/tasks/task_problem.h"
#include "partitioner/planning/tasks/task_schedule.h"
#include "partitioner/planning/tasks/task_timeline.h"

namespace pareto::tasks {

/// The costs of a model.
struct ModelCosts {
  StageCost whole{};
  std::vector<StageCost> stages{};  ///< stages of the cut model; fewer than two: it is not cut
  /// Time of the whole model on the fastest device, while nothing else runs.
  Nanoseconds alone{};
};

enum class Splitting {
  kAuto,  ///< tasks that are predicted to gain by it
  kNever,
  kAlways,  ///< every task of a model that is cut
};

struct PlanRequest {
  TaskSet set{};
  std::vector<ModelCosts> models{};  ///< one for each of set.models
  std::vector<WorkerFacts> workers{};
  std::string schedule{kAutoTaskSchedule};
  Splitting splitting = Splitting::kAuto;
};

struct TaskPlan {
  Problem problem{};
  Assignment assignment{};
  std::string schedule{};     ///< its name, never "auto"
  std::vector<bool> split{};  ///< by task
  std::string reason{};       ///< sentences for people: what was chosen, against what
  Timeline predicted{};

  /// Returns how many tasks are split.
  std::size_t splits() const;
};

/// Returns a problem in which tasks are whole, or split where `split` says so.
Problem make_problem(const PlanRequest& request, const std::vector<bool>& split);
/// Returns the plan of an assignment, which `schedule` names, to a problem of make_problem().
/// Fails: kInternal (its fault).
Expected<TaskPlan> plan_with(Problem problem, const std::string& schedule,
                             const std::vector<bool>& split, Assignment assignment);
/// Returns the plan of one schedule. Fails: kNotFound (no such schedule), kInternal (its fault).
Expected<TaskPlan> plan_by(const PlanRequest& request, const std::string& schedule,
                           const std::vector<bool>& split);
/// Returns the plan that misses the fewest deadlines, and of these the one that ends first. A
/// simpler one is kept unless the other gains more than a hundredth.
/// Fails: as plan_by().
Expected<TaskPlan> choose_plan(const PlanRequest& request);

}  // namespace pareto::tasks
