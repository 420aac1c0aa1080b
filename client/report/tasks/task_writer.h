// Writes a run of tasks, or a sweep over mixes, for people and for programs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/report/report_writer.h"
#include "client/report/schedule/schedule_report.h"
#include "coordinator/tasks/task_report.h"
#include "core/base/error.h"

namespace pareto::report {

/// Writes figures, a line each, and tables. `all`: of every task, however many there are.
std::string write_task_table(const tasks::TaskReport& report, const ReportStyle& style, bool all);
/// Writes one document; its schema: tests/golden/tasks.schema.json.
std::string write_task_json(const tasks::TaskReport& report);
/// Returns files by their names: profile.csv (a line a layer), runs.csv (a line a schedule or
/// baseline and round), tasks.csv (a line a task).
std::map<std::string, std::string> task_csv_files(const tasks::TaskReport& report);
/// Returns one offline page: the figures, who ran what when, and every task. Fails: kInternal.
Expected<std::string> task_page(const tasks::TaskReport& report);
/// Writes the schedule's run for ui.perfetto.dev and chrome://tracing.
std::string task_chrome_trace(const tasks::TaskReport& report);

/// Returns the schedule's run as a schedule of units, a unit each stage of a task.
schedule::ScheduleReport as_schedule(const tasks::TaskReport& report);

std::string write_task_sweep_table(const tasks::TaskSweep& sweep, const ReportStyle& style);
/// Writes one document; its schema: tests/golden/tasks_sweep.schema.json.
std::string write_task_sweep_json(const tasks::TaskSweep& sweep);
/// Returns sweep.csv: a line a share of heavy tasks and way to run them.
std::map<std::string, std::string> task_sweep_csv_files(const tasks::TaskSweep& sweep);
/// Returns a page with the curve of speed-up over the mix. Fails: kInternal.
Expected<std::string> task_sweep_page(const tasks::TaskSweep& sweep);

/// Returns "10 tasks on 2 workers of this device, 2 cores".
std::string task_title(const tasks::TaskReport& report);
/// Returns "24.1 ms alone, 26.3 ms next to others; in 2 stages 13.2 + 13.1 ms, cut after:layer3".
std::string stages_text(const tasks::TaskReport& report, std::size_t model);
/// Returns what was seen of a device that was lost in a run of `tasks` tasks.
std::string loss_text(const tasks::DeviceLoss& loss, std::size_t tasks);
/// Returns what else is to be known of a run, a sentence each: how many tasks were refused, which
/// devices were lost, and how much is whole if it was stopped.
std::vector<std::string> remarks_on(const tasks::TaskReport& report);
/// Returns "27.5 ms predicted, 27.9 ms measured: 1.4 % too short".
std::string prediction_text(const tasks::TaskReport& report);
/// Returns what the comparison of all outputs came to, in a sentence.
std::string outputs_text(const tasks::TaskReport& report);

}  // namespace pareto::report
