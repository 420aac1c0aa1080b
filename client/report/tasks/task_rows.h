// Tasks that were run, as tables and pages list them.
#pragma once

#include <string>

#include "client/report/cell_table.h"
#include "coordinator/tasks/task_report.h"

namespace pareto::report {

/// Returns "27.53": milliseconds.
std::string task_ms(Nanoseconds time);
/// Returns "1.87", or "-" if it is not known.
std::string factor_text(double factor);

/// Returns a row for the schedule, and one for each baseline.
CellTable ways_table(const tasks::TaskReport& report);
/// Returns a row for each model, over the schedule's tasks.
CellTable models_table(const tasks::TaskReport& report);
/// Returns a row for each task, as the schedule ran it.
CellTable tasks_table(const tasks::TaskReport& report);
/// Returns a row for each mix.
CellTable mixes_table(const tasks::TaskSweep& sweep);

}  // namespace pareto::report
