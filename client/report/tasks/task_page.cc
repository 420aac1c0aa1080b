#include "client/report/figure_page.h"
#include "client/report/schedule/schedule_writer.h"
#include "client/report/tasks/task_curve.h"
#include "client/report/tasks/task_rows.h"
#include "client/report/tasks/task_writer.h"

namespace pareto::report {
namespace {

std::vector<Headline> task_headlines(const tasks::TaskReport& report) {
  const tasks::Contestant& run = report.schedule();
  std::vector<Headline> headlines{
      {"all tasks take", task_ms(run.makespan) + " ms", prediction_text(report)}};
  if (run.partial) headlines.front() = {"stopped after", task_ms(run.makespan) + " ms", ""};
  for (const tasks::Contestant& other : report.contestants) {
    if (&other == &run || report.speed_up_over(other) <= 0) continue;
    headlines.push_back({"times as fast as " + other.name, factor_text(report.speed_up_over(other)),
                         task_ms(other.makespan) + " ms: " + other.about});
  }
  const double slowdown = run.figures.mean_slowdown;
  headlines.push_back(
      {"tasks a second", fmt::format("{:.4g}", run.figures.throughput_per_s),
       slowdown > 0 ? fmt::format("slowdown {} in the mean", factor_text(slowdown)) : ""});
  return headlines;
}

}  // namespace

Expected<std::string> task_page(const tasks::TaskReport& report) {
  FigurePage page{.title = task_title(report), .subtitle = report.schedule().about};
  for (const std::string& remark : remarks_on(report)) page.subtitle += "; " + remark;
  page.subtitle += "; outputs " + outputs_text(report);
  page.headlines = task_headlines(report);
  page.picture_title = "Who runs what, when";
  page.picture_note =
      "The run in the middle of all rounds, a row a worker. Point at a bar for its stage.";
  page.picture = schedule::schedule_svg(as_schedule(report), /*in_page=*/true);
  page.zoom = true;
  CellTable models = models_table(report);
  for (std::size_t i = 0; i < models.rows.size(); ++i) {
    models.rows[i].note = stages_text(report, i);
  }
  page.tables = {{"Next to the baselines", ways_table(report)},
                 {"Models", std::move(models)},
                 {"Tasks", tasks_table(report)}};
  return figure_page(page);
}

Expected<std::string> task_sweep_page(const tasks::TaskSweep& sweep) {
  FigurePage page{.title = "No mix was run", .subtitle = "Speed-up by the share of heavy tasks"};
  if (!sweep.points.empty()) page.title = task_title(sweep.points.front().report);
  for (const tasks::SweepPoint& point : sweep.points) {
    for (const tasks::DeviceLoss& loss : point.report.losses) {
      page.subtitle += "; " + loss_text(loss, point.report.set.tasks.size());
    }
  }
  if (sweep.stopped) page.subtitle += "; stopped before all mixes were run";
  page.picture_title = "Speed-up over the baselines";
  page.picture_note = "Above 1 the schedule is faster. Point at a dot for its figures.";
  page.picture = task_curve_svg(sweep);
  page.tables = {{"Mixes", mixes_table(sweep)}};
  return figure_page(page);
}

}  // namespace pareto::report
