#include "partitioner/planning/tasks/plan_choice.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/counted.h"
#include "core/base/text.h"
#include "partitioner/planning/tasks/assignment_check.h"

namespace pareto::tasks {
namespace {

/// A plan has to gain this share over a simpler one.
constexpr double kLeastGain = 0.01;

/// The most tasks for which eft is tried unasked: it looks at all of them for each that it places.
constexpr std::size_t kMostForEft = 500;

bool is_cut(const ModelCosts& model) { return model.stages.size() > 1; }

/// Returns the ways to split that are looked at, simplest first: no task; the last ones of one
/// model; all tasks.
std::vector<std::vector<bool>> ways_to_split(const PlanRequest& request) {
  const std::vector<Task>& tasks = request.set.tasks;
  const std::vector<bool> none(tasks.size(), false);
  std::vector<bool> all = none;
  for (std::size_t i = 0; i < tasks.size(); ++i) all[i] = is_cut(request.models[tasks[i].model]);
  if (request.splitting == Splitting::kNever || all == none) return {none};
  if (request.splitting == Splitting::kAlways) return {all};
  std::vector<std::vector<bool>> ways{none};
  // More tasks of a model than there are workers are whole as well as they are split.
  const std::size_t most = 2 * request.workers.size();
  for (std::size_t model = 0; model < request.models.size(); ++model) {
    std::vector<bool> some = none;
    std::size_t count = 0;
    for (std::size_t i = tasks.size(); i-- > 0 && count < most;) {
      if (tasks[i].model != model || !all[i]) continue;
      some[i] = true;
      ++count;
      ways.push_back(some);
    }
  }
  if (std::ranges::find(ways, all) == ways.end()) ways.push_back(all);
  return ways;
}

std::vector<std::string> schedules_for(const PlanRequest& request) {
  if (request.schedule != kAutoTaskSchedule) return {request.schedule};
  if (request.set.has_priorities()) return {"priority"};
  std::vector<std::string> names;
  for (const TaskSchedule& schedule : builtin_task_schedules()) {
    if (schedule.name == "priority") continue;
    if (schedule.name == "eft" && request.set.tasks.size() > kMostForEft) continue;
    if (schedule.name == "deadline" && !request.set.has_deadlines()) continue;
    names.push_back(schedule.name);
  }
  return names;
}

struct Score {
  std::size_t misses = 0;
  double makespan = 0;
};

Score score_of(const TaskPlan& plan) {
  const RunFigures figures = figures_of(plan.predicted, plan.problem, {});
  return {figures.misses, to_nanoseconds(figures.makespan)};
}

bool is_better(const Score& one, const Score& than) {
  if (one.misses != than.misses) return one.misses < than.misses;
  return one.makespan < than.makespan * (1 - kLeastGain);
}

std::string score_text(const Score& score, bool has_deadlines) {
  std::string text = fmt::format("{:.4g} ms", score.makespan / 1e6);
  if (has_deadlines) text += fmt::format(" and {} missed", counted(score.misses, "deadline"));
  return text;
}

/// Returns "2 of 5 resnet50 are in 2 stages"; "every task is whole".
std::string split_text(const PlanRequest& request, const std::vector<bool>& split) {
  std::vector<std::string> parts;
  for (std::size_t model = 0; model < request.models.size(); ++model) {
    std::size_t all = 0;
    std::size_t some = 0;
    for (std::size_t i = 0; i < split.size(); ++i) {
      if (request.set.tasks[i].model != model) continue;
      ++all;
      if (split[i]) ++some;
    }
    if (some == 0) continue;
    parts.push_back(fmt::format("{} of {} {} in {}", some, all, request.set.models[model].title(),
                                counted(request.models[model].stages.size(), "stage")));
  }
  return parts.empty() ? "every task is whole" : join(parts);
}

}  // namespace

std::size_t TaskPlan::splits() const {
  return static_cast<std::size_t>(std::ranges::count(split, true));
}

Problem make_problem(const PlanRequest& request, const std::vector<bool>& split) {
  Problem problem{.workers = request.workers, .tasks = {}};
  for (std::size_t i = 0; i < request.set.tasks.size(); ++i) {
    const Task& task = request.set.tasks[i];
    const ModelCosts& model = request.models[task.model];
    problem.tasks.push_back({task.arrival, task.deadline, task.priority,
                             split[i] ? model.stages : std::vector<StageCost>{model.whole}});
  }
  return problem;
}

Expected<TaskPlan> plan_by(const PlanRequest& request, const std::string& schedule,
                           const std::vector<bool>& split) {
  PARETO_ASSIGN(const TaskSchedule* const found, find_task_schedule(schedule));
  Problem problem = make_problem(request, split);
  Assignment assignment = found->assign(problem);
  return plan_with(std::move(problem), schedule, split, std::move(assignment));
}

Expected<TaskPlan> plan_with(Problem problem, const std::string& schedule,
                             const std::vector<bool>& split, Assignment assignment) {
  TaskPlan plan{.problem = std::move(problem),
                .assignment = std::move(assignment),
                .schedule = schedule,
                .split = split};
  PARETO_TRY(with_context(check(plan.assignment, plan.problem), "schedule {}", schedule));
  plan.predicted = predict(plan.problem, plan.assignment);
  PARETO_TRY(with_context(check(plan.predicted, plan.problem), "schedule {}", schedule));
  return plan;
}

Expected<TaskPlan> choose_plan(const PlanRequest& request) {
  const bool has_deadlines = request.set.has_deadlines();
  std::optional<TaskPlan> best;
  Score score;
  std::optional<Score> whole;  // the best without a split
  std::optional<Score> split;  // the best with one
  for (const std::vector<bool>& way : ways_to_split(request)) {
    for (const std::string& name : schedules_for(request)) {
      PARETO_ASSIGN(TaskPlan plan, plan_by(request, name, way));
      const Score now = score_of(plan);
      std::optional<Score>& kind = plan.splits() == 0 ? whole : split;
      if (!kind || now.misses < kind->misses ||
          (now.misses == kind->misses && now.makespan < kind->makespan)) {
        kind = now;
      }
      if (best && !is_better(now, score)) continue;
      best = std::move(plan);
      score = now;
    }
  }
  best->reason = fmt::format("{}, schedule {}: {} predicted", split_text(request, best->split),
                             best->schedule, score_text(score, has_deadlines));
  if (const auto& other = best->splits() == 0 ? split : whole) {
    best->reason += fmt::format("; {} {}", best->splits() == 0 ? "with a split" : "whole tasks",
                                score_text(*other, has_deadlines));
  }
  return *std::move(best);
}

}  // namespace pareto::tasks
