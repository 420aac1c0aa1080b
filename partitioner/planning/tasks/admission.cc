#include "partitioner/planning/tasks/admission.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <tuple>

#include "core/base/text.h"

namespace pareto::tasks {
namespace {

/// The most tasks of which one is refused at a time: each time all are predicted again.
constexpr std::size_t kTasksAtATime = 200;

/// Returns when each task ends, earliest deadline first; the tasks are whole.
std::vector<Nanoseconds> predicted_ends(const PlanRequest& request) {
  const std::vector<bool> whole(request.set.tasks.size(), false);
  const Problem problem = make_problem(request, whole);
  std::vector<Nanoseconds> ends(problem.tasks.size());
  for (const StageSpan& span : predict(problem, assign_deadline(problem)).spans) {
    ends[span.turn.task] = span.finish;
  }
  return ends;
}

/// Returns the tasks to refuse next, in descending order; none if none is late.
std::vector<std::size_t> tasks_to_refuse(const PlanRequest& request) {
  const std::vector<Task>& tasks = request.set.tasks;
  const std::vector<Nanoseconds> ends = predicted_ends(request);
  std::optional<Nanoseconds> first_late;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!tasks[i].deadline || ends[i] <= *tasks[i].deadline) continue;
    if (!first_late || ends[i] < *first_late) first_late = ends[i];
  }
  std::vector<std::size_t> refused;
  for (std::size_t i = 0; first_late && i < tasks.size(); ++i) {
    if (tasks[i].deadline && ends[i] <= *first_late) refused.push_back(i);
  }
  const auto rank = [&](std::size_t i) {
    return std::tuple(tasks[i].priority, -request.models[tasks[i].model].whole.time);
  };
  std::ranges::stable_sort(refused, {}, rank);
  refused.resize(std::min(refused.size(), 1 + tasks.size() / kTasksAtATime));
  std::ranges::sort(refused, std::greater<>());
  return refused;
}

}  // namespace

std::vector<bool> admit_all(const PlanRequest& request) {
  return std::vector<bool>(request.set.tasks.size(), true);
}

std::vector<bool> admit_by_deadline(const PlanRequest& request) {
  PlanRequest left = request;
  std::vector<std::size_t> numbers(request.set.tasks.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
  std::vector<bool> admitted = admit_all(request);
  for (;;) {
    const std::vector<std::size_t> refused = tasks_to_refuse(left);
    if (refused.empty()) return admitted;
    for (const std::size_t i : refused) {
      const auto at = static_cast<std::ptrdiff_t>(i);
      admitted[numbers[i]] = false;
      numbers.erase(numbers.begin() + at);
      left.set.tasks.erase(left.set.tasks.begin() + at);
    }
  }
}

const std::vector<AdmissionRule>& admission_rules() {
  static const std::vector<AdmissionRule> kRules{
      {"all", "every task", admit_all},
      {"deadline", "no task that would miss its deadline by prediction", admit_by_deadline},
  };
  return kRules;
}

std::vector<std::string> admission_rule_names() {
  std::vector<std::string> names;
  for (const AdmissionRule& rule : admission_rules()) names.push_back(rule.name);
  return names;
}

Expected<const AdmissionRule*> find_admission_rule(std::string_view name) {
  for (const AdmissionRule& rule : admission_rules()) {
    if (rule.name == name) return &rule;
  }
  const std::vector<std::string> names = admission_rule_names();
  return fail(ErrorCode::kNotFound, "no rule of admission \"{}\"{}; there are {}", name,
              did_you_mean(std::string(name), names), join(names));
}

}  // namespace pareto::tasks
