#include <algorithm>
#include <cmath>

#include "client/report/plan_text.h"
#include "client/report/schedule/schedule_writer.h"
#include "client/report/tasks/task_rows.h"
#include "client/report/tasks/task_writer.h"
#include "core/base/counted.h"
#include "core/base/text.h"

namespace pareto::report {
namespace {

/// Returns "12.3 ms"; of devices "pi 30.1 ms, server 12.3 ms".
std::string time_text(const tasks::StageCost& cost, const std::vector<std::string>& devices) {
  if (cost.on_device.empty()) return task_ms(cost.time) + " ms";
  std::vector<std::string> times;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    times.push_back(fmt::format("{} {} ms", devices[i], task_ms(cost.on_device[i])));
  }
  return join(times);
}

}  // namespace

std::string loss_text(const tasks::DeviceLoss& loss, std::size_t tasks) {
  const std::string when =
      loss.round > 0 ? fmt::format("in round {}", loss.round) : "in the warm-up";
  return fmt::format("{} was lost {} of {}, of which {} of {} were done: {}", loss.device, when,
                     loss.way, loss.done, counted(tasks, "task"), loss.error);
}

std::string task_title(const tasks::TaskReport& report) {
  const std::string on = report.devices.empty()
                             ? fmt::format("this device, {}", counted(report.cores, "core"))
                             : join(report.devices);
  return fmt::format("{} on {} of {}", counted(report.set.tasks.size(), "task"),
                     counted(report.schedule().plan.problem.workers.size(), "worker"), on);
}

std::string stages_text(const tasks::TaskReport& report, std::size_t model) {
  const tasks::ModelCosts& costs = report.costs[model];
  std::string line = fmt::format("{} ms alone, {} next to others", task_ms(costs.alone),
                                 time_text(costs.whole, report.devices));
  if (costs.stages.size() < 2) return line;
  const std::vector<tasks::StageRange>& ranges = report.models[model].ranges;
  std::vector<std::string> times;
  std::vector<std::string> cuts;
  for (std::size_t i = 0; i < costs.stages.size(); ++i) {
    times.push_back(task_ms(costs.stages[i].time));
    if (!ranges[i].name.empty()) cuts.push_back(ranges[i].name);
  }
  return line + fmt::format("; in {} {} ms, cut {}", counted(times.size(), "stage"),
                            join(times, " + "), join(cuts));
}

std::vector<std::string> remarks_on(const tasks::TaskReport& report) {
  std::vector<std::string> remarks;
  if (!report.refused.empty()) {
    remarks.push_back(fmt::format("not admitted: {}, predicted to be late or to make others late",
                                  counted(report.refused.size(), "task")));
  }
  for (const tasks::DeviceLoss& loss : report.losses) {
    remarks.push_back(loss_text(loss, report.set.tasks.size()));
  }
  if (!report.stopped && report.losses.empty()) return remarks;
  const tasks::Contestant& run = report.schedule();
  remarks.push_back(fmt::format("stopped after {} of {}{}", run.makespans.size(),
                                counted(report.rounds, "round"),
                                run.partial ? fmt::format("; {} of {} were done", run.figures.done,
                                                          counted(report.set.tasks.size(), "task"))
                                            : ""));
  return remarks;
}

std::string prediction_text(const tasks::TaskReport& report) {
  const std::string predicted = format_figure(to_milliseconds(report.predicted.makespan)) + " ms";
  if (report.schedule().partial) return predicted + " predicted";
  const double off = 100 * report.prediction_error();
  return fmt::format("{} predicted, {} ms measured: {:.1f} % too {}", predicted,
                     format_figure(to_milliseconds(report.schedule().makespan)), std::abs(off),
                     off < 0 ? "short" : "long");
}

std::string outputs_text(const tasks::TaskReport& report) {
  std::size_t mismatches = 0;
  double worst = 0;
  for (const tasks::Contestant& one : report.contestants) {
    mismatches += one.mismatches;
    worst = std::max(worst, one.worst_error);
  }
  if (mismatches > 0) {
    return fmt::format("{} differ from those of the whole models, by {:.2g} at most",
                       counted(mismatches, "task's outputs", "tasks' outputs"), worst);
  }
  if (worst == 0) return "equal bit for bit to those of the whole models on one thread";
  return fmt::format("within {:.2g} of those of the whole models on one thread", worst);
}

schedule::ScheduleReport as_schedule(const tasks::TaskReport& report) {
  const tasks::Contestant& run = report.schedule();
  const tasks::Problem& problem = run.plan.problem;
  schedule::ScheduleReport schedule;
  schedule.model = counted(report.set.tasks.size(), "task");
  schedule.schedule = run.name;
  schedule.reason = run.about;
  schedule.threads = static_cast<int>(problem.workers.size());
  for (const tasks::WorkerFacts& worker : problem.workers) {
    schedule.worker_names.push_back(worker.name);
  }
  schedule.engine = report.models.empty() ? "" : report.models.front().engine;
  schedule.precision = "fp32";
  schedule.from_zero = true;
  schedules::ScheduleTrace& trace = schedule.trace;
  std::vector<std::size_t> first_units;
  for (std::size_t task = 0; task < problem.tasks.size(); ++task) {
    const std::string& title = report.models[report.set.tasks[task].model].title;
    const auto& stages = problem.tasks[task].stages;
    first_units.push_back(trace.graph.nodes.size());
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      const std::size_t node = trace.graph.nodes.size();
      const std::string part =
          stages.size() > 1 ? fmt::format(" {}/{}", stage + 1, stages.size()) : "";
      trace.graph.nodes.push_back({.kind = title, .cost = to_nanoseconds(stages[stage].time)});
      if (stage > 0) trace.graph.nodes.back().after = {node - 1};
      trace.timetable.units.push_back({.operators = {node},
                                       .name = fmt::format("{} {}{}", task, title, part),
                                       .tags = {title}});
    }
  }
  schedules::Phase& phase = trace.timetable.phases.emplace_back();
  phase.workers.resize(problem.workers.size());
  for (const tasks::StageSpan& span : run.timeline.spans) {
    const std::size_t unit = first_units[span.turn.task] + span.turn.stage;
    phase.workers[span.worker].push_back({unit, 0});
    trace.turns.push_back({span.worker, unit, 0, span.start, span.finish});
  }
  trace.measured = run.makespan;
  trace.predicted = to_nanoseconds(report.predicted.makespan);
  for (const tasks::Contestant& other : report.contestants) {
    if (other.name == "sequential") trace.sequential_one = other.makespan;
    if (other.name == "sequential-all") trace.sequential_all = other.makespan;
  }
  return schedule;
}

std::string task_chrome_trace(const tasks::TaskReport& report) {
  return schedule::schedule_chrome_trace(as_schedule(report));
}

}  // namespace pareto::report
