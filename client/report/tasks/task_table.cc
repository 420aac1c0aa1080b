#include "client/report/tasks/task_rows.h"
#include "client/report/tasks/task_writer.h"
#include "client/report/text_table.h"
#include "core/base/counted.h"
#include "core/base/text.h"

namespace pareto::report {
namespace {

/// The most tasks that get a line each unasked.
constexpr std::size_t kMostLines = 20;

}  // namespace

std::string write_task_table(const tasks::TaskReport& report, const ReportStyle& style, bool all) {
  const tasks::Contestant& run = report.schedule();
  std::string text = heading(task_title(report), style);
  text += paragraph(run.about, RowStyle::kFaint, style);
  for (std::size_t i = 0; i < report.models.size(); ++i) {
    text += report.models[i].title + ": " + stages_text(report, i) + "\n";
  }
  text += "\n" + cells_text(ways_table(report), style) + "\n";
  text += "makespan  " + prediction_text(report) + "\n";
  text += "outputs   " + outputs_text(report) + "\n\n";
  text += cells_text(models_table(report), style);
  if (all || run.partial || report.set.tasks.size() <= kMostLines) {
    text += "\n" + cells_text(tasks_table(report), style);
  }
  for (const std::string& remark : remarks_on(report)) text += remark + "\n";
  return text;
}

std::string write_task_sweep_table(const tasks::TaskSweep& sweep, const ReportStyle& style) {
  if (sweep.points.empty()) return "no mix was run\n";
  const std::string title =
      task_title(sweep.points.front().report) + ": speed-up by the share of heavy tasks";
  std::string text = heading(title, style) + cells_text(mixes_table(sweep), style);
  for (const tasks::SweepPoint& point : sweep.points) {
    for (const tasks::DeviceLoss& loss : point.report.losses) {
      text += loss_text(loss, point.report.set.tasks.size()) + "\n";
    }
  }
  return text + (sweep.stopped ? "stopped before all mixes were run\n" : "");
}

}  // namespace pareto::report
