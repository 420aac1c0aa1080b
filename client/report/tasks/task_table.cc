#include <algorithm>

#include "client/report/plan_text.h"
#include "client/report/tasks/task_writer.h"
#include "client/report/text_table.h"
#include "coordinator/results/quantile.h"
#include "core/base/counted.h"
#include "core/base/text.h"

namespace pareto::report {
namespace {

/// The most tasks that get a line each unasked.
constexpr std::size_t kMostLines = 20;

std::string task_ms(Nanoseconds time) { return format_figure(to_milliseconds(time)); }

std::string speed_up_text(double speed_up) {
  return speed_up > 0 ? fmt::format("{:.2f}", speed_up) : "-";
}

std::string stages_line(const tasks::PreparedModel& model, const tasks::ModelCosts& costs) {
  std::string line = fmt::format("{}: {} ms alone, {} ms beside others", model.title,
                                 task_ms(costs.alone), task_ms(costs.whole.time));
  if (costs.stages.size() < 2) return line;
  std::vector<std::string> times;
  std::vector<std::string> cuts;
  for (std::size_t i = 0; i < costs.stages.size(); ++i) {
    times.push_back(task_ms(costs.stages[i].time));
    if (!model.ranges[i].name.empty()) cuts.push_back(model.ranges[i].name);
  }
  return line + fmt::format("; in {} {} ms, cut {}", counted(times.size(), "stage"),
                            join(times, " + "), join(cuts));
}

std::string ways_table(const tasks::TaskReport& report, const ReportStyle& style) {
  TextTable table({{"way to run them", Align::kLeft},
                   {"makespan ms", Align::kRight},
                   {"speed-up", Align::kRight},
                   {"tasks/s", Align::kRight, 1},
                   {"completion ms", Align::kRight, 2},
                   {"slowdown", Align::kRight, 2},
                   {"busy", Align::kRight, 3},
                   {"missed", Align::kRight, 1, "missed deadlines", std::nullopt, true}});
  for (const tasks::Contestant& one : report.contestants) {
    std::vector<std::string> busy;
    for (const tasks::WorkerUse& use : one.figures.workers) {
      busy.push_back(fmt::format("{:.0f} %", 100 * use.share));
    }
    const bool is_schedule = &one == &report.schedule();
    table.add(
        {is_schedule ? "schedule " + one.name : one.name, task_ms(one.makespan),
         is_schedule ? "1" : speed_up_text(report.speed_up_over(one)),
         fmt::format("{:.4g}", one.figures.throughput_per_s), task_ms(one.figures.mean_completion),
         fmt::format("{:.2f}", one.figures.mean_slowdown), join(busy, " "),
         std::to_string(one.figures.misses)},
        is_schedule ? RowStyle::kStrong : RowStyle::kPlain);
  }
  return table.render(style);
}

/// Sums the schedule's tasks up by model.
std::string models_table(const tasks::TaskReport& report, const ReportStyle& style) {
  TextTable table({{"model", Align::kLeft},
                   {"tasks", Align::kRight},
                   {"done", Align::kRight, 1, "", std::nullopt, true},
                   {"alone ms", Align::kRight},
                   {"completion ms", Align::kRight},
                   {"at most ms", Align::kRight, 1},
                   {"slowdown", Align::kRight},
                   {"missed", Align::kRight, 1, "missed deadlines", std::nullopt, true}});
  const std::vector<tasks::TaskOutcome>& outcomes = report.schedule().figures.tasks;
  for (std::size_t model = 0; model < report.models.size(); ++model) {
    std::vector<double> completions;
    double slowdown = 0;
    std::size_t count = 0;
    std::size_t missed = 0;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      if (report.set.tasks[i].model != model) continue;
      ++count;
      missed += outcomes[i].missed ? 1 : 0;
      if (!outcomes[i].finish) continue;
      completions.push_back(to_milliseconds(outcomes[i].completion));
      slowdown += outcomes[i].slowdown;
    }
    const bool any = !completions.empty();
    const double most = any ? *std::ranges::max_element(completions) : 0;
    table.add(
        {report.models[model].title, std::to_string(count), std::to_string(completions.size()),
         task_ms(report.costs[model].alone),
         any ? format_figure(results::quantile(completions, 0.5)) : "-",
         any ? format_figure(most) : "-",
         any ? fmt::format("{:.2f}", slowdown / static_cast<double>(completions.size())) : "-",
         std::to_string(missed)});
  }
  return table.render(style);
}

std::string tasks_table(const tasks::TaskReport& report, const ReportStyle& style) {
  TextTable table({{"task", Align::kRight},
                   {"model", Align::kLeft},
                   {"comes at ms", Align::kRight, 1, "", std::nullopt, true},
                   {"stages", Align::kRight, 1},
                   {"done at ms", Align::kRight},
                   {"completion ms", Align::kRight},
                   {"slowdown", Align::kRight},
                   {"deadline ms", Align::kRight, 1, "", std::nullopt, true}});
  const tasks::Contestant& run = report.schedule();
  for (std::size_t i = 0; i < run.figures.tasks.size(); ++i) {
    const tasks::TaskOutcome& outcome = run.figures.tasks[i];
    const tasks::Task& task = report.set.tasks[i];
    table.add({std::to_string(i), report.models[task.model].title, task_ms(task.arrival),
               std::to_string(run.plan.problem.tasks[i].stages.size()),
               outcome.finish ? task_ms(*outcome.finish) : "not done",
               outcome.finish ? task_ms(outcome.completion) : "-",
               outcome.slowdown > 0 ? fmt::format("{:.2f}", outcome.slowdown) : "-",
               task.deadline ? task_ms(*task.deadline) : "-"},
              outcome.missed ? RowStyle::kBad : RowStyle::kPlain);
  }
  return table.render(style);
}

}  // namespace

std::string write_task_table(const tasks::TaskReport& report, const ReportStyle& style, bool all) {
  const tasks::Contestant& run = report.schedule();
  std::string text =
      heading(fmt::format("{} on {} of this device, {}", counted(report.set.tasks.size(), "task"),
                          counted(run.plan.problem.workers.size(), "worker"),
                          counted(report.cores, "core")),
              style);
  text += paragraph(run.about, RowStyle::kFaint, style);
  for (std::size_t i = 0; i < report.models.size(); ++i) {
    text += stages_line(report.models[i], report.costs[i]) + "\n";
  }
  text += "\n" + ways_table(report, style) + "\n";
  text += "makespan  " + prediction_text(report) + "\n";
  text += "outputs   " + outputs_text(report) + "\n\n";
  text += models_table(report, style);
  if (all || run.partial || report.set.tasks.size() <= kMostLines) {
    text += "\n" + tasks_table(report, style);
  }
  if (report.stopped) {
    text += fmt::format("stopped: {} of {} were whole{}\n", run.makespans.size(),
                        counted(report.rounds, "round"),
                        run.partial ? fmt::format("; {} of {} were done", run.figures.done,
                                                  counted(report.set.tasks.size(), "task"))
                                    : "");
  }
  return text;
}

std::string write_task_sweep_table(const tasks::TaskSweep& sweep, const ReportStyle& style) {
  if (sweep.points.empty()) return "no mix was run\n";
  std::vector<TextColumn> columns{{"heavy", Align::kRight},
                                  {"schedule", Align::kLeft},
                                  {"split", Align::kRight, 1},
                                  {"makespan ms", Align::kRight},
                                  {"predicted ms", Align::kRight, 2}};
  const auto& first = sweep.points.front().report.contestants;
  for (std::size_t i = 1; i < first.size(); ++i) {
    columns.push_back({"over " + first[i].name, Align::kRight});
  }
  TextTable table(std::move(columns));
  for (const tasks::SweepPoint& point : sweep.points) {
    const tasks::TaskReport& report = point.report;
    std::vector<std::string> cells{
        fmt::format("{:.0f} %", 100 * point.heavy_share), report.schedule().name,
        std::to_string(report.schedule().plan.splits()), task_ms(report.schedule().makespan),
        task_ms(report.predicted.makespan)};
    for (std::size_t i = 1; i < report.contestants.size(); ++i) {
      cells.push_back(speed_up_text(report.speed_up_over(report.contestants[i])));
    }
    table.add(std::move(cells));
  }
  return heading(fmt::format("{} on {} of this device: speed-up over baselines by the share of "
                             "heavy tasks",
                             counted(sweep.points.front().report.set.tasks.size(), "task"),
                             counted(first.front().plan.problem.workers.size(), "worker")),
                 style) +
         table.render(style) + (sweep.stopped ? "stopped before all mixes were run\n" : "");
}

}  // namespace pareto::report
