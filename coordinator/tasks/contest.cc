#include <algorithm>

#include "coordinator/tasks/rehearsal.h"
#include "coordinator/tasks/task_report.h"
#include "core/base/cores.h"
#include "partitioner/planning/tasks/admission.h"

namespace pareto::tasks {
namespace {

/// One run of a contestant.
struct Measured {
  Nanoseconds makespan;
  Timeline timeline;
};

/// Fills in the figures of the run in the middle.
void settle(Contestant& contestant, std::vector<Measured> runs,
            const std::vector<Nanoseconds>& alone) {
  for (const Measured& run : runs) contestant.makespans.push_back(run.makespan);
  if (!runs.empty()) {
    std::ranges::sort(runs, {}, &Measured::makespan);
    Measured& middle = runs[(runs.size() - 1) / 2];
    contestant.makespan = runs.size() % 2 == 1
                              ? middle.makespan
                              : (middle.makespan + runs[runs.size() / 2].makespan) / 2;
    contestant.timeline = std::move(middle.timeline);
  } else {
    contestant.partial = true;
    contestant.makespan = contestant.timeline.makespan();
  }
  contestant.figures = figures_of(contestant.timeline, contestant.plan.problem, alone);
}

/// Takes the tasks out of a request that a rule does not admit.
Expected<> admit(const std::string& name, PlanRequest& request, std::vector<Task>& refused) {
  PARETO_ASSIGN(const AdmissionRule* const rule, find_admission_rule(name));
  const std::vector<bool> admitted = rule->admit(request);
  std::vector<Task> some;
  for (std::size_t i = 0; i < admitted.size(); ++i) {
    (admitted[i] ? some : refused).push_back(request.set.tasks[i]);
  }
  request.set.tasks = std::move(some);
  if (!request.set.tasks.empty()) return {};
  return fail(ErrorCode::kInvalidArgument,
              "no task is admitted by rule {}: allow them more time, or use --admission all", name);
}

/// Notes which devices a run lost. Each has its first worker's error.
void note_losses(const TaskRun& run, int round, const Contestant& contestant,
                 const std::vector<std::string>& devices, std::vector<DeviceLoss>& losses) {
  for (const WorkerLoss& loss : run.losses) {
    const std::string& device = devices[contestant.plan.problem.workers[loss.worker].device];
    if (std::ranges::find(losses, device, &DeviceLoss::device) != losses.end()) continue;
    losses.push_back({device, round + 1, contestant.name, loss.error.message,
                      figures_of(run.timeline, contestant.plan.problem, {}).done});
  }
}

}  // namespace

double TaskReport::speed_up_over(const Contestant& other) const {
  if (schedule().partial || other.partial || schedule().makespan.count() <= 0) return 0;
  return to_nanoseconds(other.makespan) / to_nanoseconds(schedule().makespan);
}

double TaskReport::prediction_error() const {
  const double measured = to_nanoseconds(schedule().makespan);
  if (schedule().partial || measured <= 0) return 0;
  return to_nanoseconds(predicted.makespan) / measured - 1;
}

Expected<TaskReport> run_contest(
    TaskBench& bench, const TaskSet& set, const ContestOptions& options,
    const std::atomic<bool>& stop,
    const std::function<void(int round, const std::string&)>& progress) {
  TaskReport report;
  report.devices = bench.devices();
  report.cores = std::max<std::size_t>(1, usable_cores().size());
  report.models = bench.models();
  report.rounds = options.rounds;
  progress(-1, "rehearsal");
  PARETO_ASSIGN(report.costs, rehearse(bench, set, stop));
  PlanRequest request{.set = set,
                      .models = report.costs,
                      .workers = bench.workers(),
                      .schedule = options.schedule,
                      .splitting = options.splitting};
  PARETO_TRY(admit(options.admission, request, report.refused));
  report.set = request.set;
  std::vector<Nanoseconds> alone;
  for (const Task& task : report.set.tasks) alone.push_back(report.costs[task.model].alone);
  PARETO_ASSIGN(TaskPlan chosen, choose_plan(request));
  report.predicted = figures_of(chosen.predicted, chosen.problem, alone);
  Contestant& first = report.contestants.emplace_back();
  first.name = chosen.schedule;
  first.about = chosen.reason;
  first.plan = std::move(chosen);
  for (const Baseline& one : baselines_on(bench.devices(), options.baselines)) {
    PARETO_ASSIGN(TaskPlan plan, baseline_plan(one.name, request, bench.devices()));
    report.contestants.push_back({.name = one.name, .about = one.about, .plan = std::move(plan)});
  }
  const std::size_t count = report.contestants.size();
  std::vector<std::vector<Measured>> runs(count);
  // A round before the first warms all of them up.
  const auto is_over = [&] { return report.stopped || !report.losses.empty(); };
  for (int round = -1; round < options.rounds && !is_over(); ++round) {
    for (std::size_t turn = 0; turn < count && !is_over(); ++turn) {
      // Who begins changes, so that nobody is always first.
      const std::size_t index = (turn + static_cast<std::size_t>(round + 1)) % count;
      Contestant& contestant = report.contestants[index];
      progress(round, contestant.name);
      auto measured = index == 0
                          ? bench.run(contestant.plan, report.set, stop)
                          : bench.run_baseline(contestant.name, contestant.plan, report.set, stop);
      PARETO_ASSIGN(ComparedRun compared, std::move(measured));
      contestant.mismatches += compared.mismatches;
      contestant.worst_error = std::max(contestant.worst_error, compared.worst_error);
      note_losses(compared.run, round, contestant, bench.devices(), report.losses);
      if (compared.run.stopped) report.stopped = true;
      Timeline& timeline = compared.run.timeline;
      if (round < 0 || is_over()) {
        contestant.timeline = std::move(timeline);
      } else {
        const Nanoseconds makespan = timeline.makespan();
        runs[index].push_back({makespan, std::move(timeline)});
      }
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    settle(report.contestants[i], std::move(runs[i]), alone);
  }
  return report;
}

}  // namespace pareto::tasks
