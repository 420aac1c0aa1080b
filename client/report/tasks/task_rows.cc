#include "client/report/tasks/task_rows.h"

#include <algorithm>

#include "client/report/plan_text.h"
#include "coordinator/results/quantile.h"
#include "core/base/text.h"

namespace pareto::report {
namespace {

/// Returns "98 % 83 %", with names "pi 98 %, server 83 %", or of many workers "40 to 98 %".
std::string busy_text(const tasks::Contestant& one) {
  const tasks::RunFigures& figures = one.figures;
  constexpr std::size_t kMostShares = 4;
  if (figures.workers.size() > kMostShares) {
    const auto [least, most] = std::ranges::minmax(figures.workers, {}, &tasks::WorkerUse::share);
    return fmt::format("{:.0f} to {:.0f} %", 100 * least.share, 100 * most.share);
  }
  std::vector<std::string> busy;
  for (std::size_t i = 0; i < figures.workers.size(); ++i) {
    const std::string& name = one.plan.problem.workers[i].name;
    busy.push_back(
        fmt::format("{}{}{:.0f} %", name, name.empty() ? "" : " ", 100 * figures.workers[i].share));
  }
  const bool have_names = !one.plan.problem.workers.front().name.empty();
  return join(busy, have_names ? ", " : " ");
}

TextColumn missed_column() {
  return {"missed", Align::kRight, 1, "missed deadlines", std::nullopt, true};
}

/// Returns "200", or "200 missed".
std::string deadline_text(const tasks::Task& task, const tasks::TaskOutcome& outcome) {
  if (!task.deadline) return "-";
  return task_ms(*task.deadline) + (outcome.missed ? " missed" : "");
}

}  // namespace

std::string task_ms(Nanoseconds time) { return format_figure(to_milliseconds(time)); }

std::string factor_text(double factor) { return factor > 0 ? fmt::format("{:.2f}", factor) : "-"; }

CellTable ways_table(const tasks::TaskReport& report) {
  CellTable table{.columns = {{"way to run them", Align::kLeft},
                              {"makespan ms", Align::kRight},
                              {"speed-up", Align::kRight},
                              {"tasks/s", Align::kRight, 1},
                              {"completion ms", Align::kRight, 2},
                              {"slowdown", Align::kRight, 2},
                              {"busy", Align::kRight, 3},
                              missed_column()}};
  for (const tasks::Contestant& one : report.contestants) {
    const bool is_schedule = &one == &report.schedule();
    const bool any = one.figures.done > 0;
    table.rows.push_back(
        {.cells = {is_schedule ? "schedule " + one.name : one.name, task_ms(one.makespan),
                   is_schedule ? "1" : factor_text(report.speed_up_over(one)),
                   fmt::format("{:.4g}", one.figures.throughput_per_s),
                   any ? task_ms(one.figures.mean_completion) : "-",
                   factor_text(one.figures.mean_slowdown), busy_text(one),
                   std::to_string(one.figures.misses)},
         .style = is_schedule ? RowStyle::kStrong : RowStyle::kPlain,
         .note = is_schedule ? "" : one.about});
  }
  return table;
}

CellTable models_table(const tasks::TaskReport& report) {
  CellTable table{.columns = {{"model", Align::kLeft},
                              {"tasks", Align::kRight},
                              {"done", Align::kRight, 1, "", std::nullopt, true},
                              {"alone ms", Align::kRight},
                              {"completion ms", Align::kRight},
                              {"at most ms", Align::kRight, 1},
                              {"slowdown", Align::kRight},
                              missed_column()}};
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
    const double done = any ? static_cast<double>(completions.size()) : 1;
    table.rows.push_back(
        {.cells = {report.models[model].title, std::to_string(count),
                   std::to_string(completions.size()), task_ms(report.costs[model].alone),
                   any ? format_figure(results::quantile(completions, 0.5)) : "-",
                   any ? format_figure(*std::ranges::max_element(completions)) : "-",
                   factor_text(slowdown / done), std::to_string(missed)}});
  }
  return table;
}

CellTable tasks_table(const tasks::TaskReport& report) {
  CellTable table{.columns = {{"task", Align::kRight},
                              {"model", Align::kLeft},
                              {"comes at ms", Align::kRight, 1, "", std::nullopt, true},
                              {"stages", Align::kRight, 1},
                              {"done at ms", Align::kRight},
                              {"completion ms", Align::kRight},
                              {"slowdown", Align::kRight},
                              {"deadline ms", Align::kRight, 1, "", std::nullopt, true}}};
  const tasks::Contestant& run = report.schedule();
  for (std::size_t i = 0; i < run.figures.tasks.size(); ++i) {
    const tasks::TaskOutcome& outcome = run.figures.tasks[i];
    const tasks::Task& task = report.set.tasks[i];
    table.rows.push_back(
        {.cells = {std::to_string(i), report.models[task.model].title, task_ms(task.arrival),
                   std::to_string(run.plan.problem.tasks[i].stages.size()),
                   outcome.finish ? task_ms(*outcome.finish) : "not done",
                   outcome.finish ? task_ms(outcome.completion) : "-",
                   factor_text(outcome.slowdown), deadline_text(task, outcome)},
         .style = outcome.missed ? RowStyle::kBad : RowStyle::kPlain});
  }
  return table;
}

CellTable mixes_table(const tasks::TaskSweep& sweep) {
  CellTable table{.columns = {{"heavy", Align::kRight},
                              {"schedule", Align::kLeft},
                              {"split", Align::kRight, 1},
                              {"makespan ms", Align::kRight},
                              {"predicted ms", Align::kRight, 2}}};
  if (sweep.points.empty()) return table;
  const auto& first = sweep.points.front().report.contestants;
  for (std::size_t i = 1; i < first.size(); ++i) {
    table.columns.push_back({"over " + first[i].name, Align::kRight});
  }
  for (const tasks::SweepPoint& point : sweep.points) {
    const tasks::TaskReport& report = point.report;
    std::vector<std::string> cells{
        fmt::format("{:.4g} %", 100 * point.heavy_share), report.schedule().name,
        std::to_string(report.schedule().plan.splits()), task_ms(report.schedule().makespan),
        task_ms(report.predicted.makespan)};
    for (std::size_t i = 1; i < report.contestants.size(); ++i) {
      cells.push_back(factor_text(report.speed_up_over(report.contestants[i])));
    }
    table.rows.push_back({.cells = std::move(cells), .note = report.schedule().about});
  }
  return table;
}

}  // namespace pareto::report
