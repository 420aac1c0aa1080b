// The units of a schedule that was run, as tables and pages list them.
#pragma once

#include "client/report/cell_table.h"
#include "client/report/schedule/schedule_report.h"

namespace pareto::report::schedule {

/// Returns a row for each unit.
CellTable unit_table(const ScheduleReport& report);

}  // namespace pareto::report::schedule
