// Writes a schedule that was run, for people and for programs.
#pragma once

#include <string>

#include "client/report/report_writer.h"
#include "client/report/schedule/schedule_report.h"
#include "core/base/error.h"

namespace pareto::report::schedule {

/// Writes its figures, a line each. `all`: tables of all units and operators, too.
std::string write_schedule_table(const ScheduleReport& report, const ReportStyle& style, bool all);
/// Writes one document; its schema: tests/golden/schedule.schema.json.
std::string write_schedule_json(const ScheduleReport& report);

/// Draws who ran which unit when, as a picture of its own, or as one inside a page.
std::string schedule_svg(const ScheduleReport& report, bool in_page = false);
/// Returns one offline page: the figures, the chart and all units. Fails: kInternal.
Expected<std::string> schedule_page(const ScheduleReport& report);
/// Writes the operators, each in its unit, for Graphviz. A unit has the colour of the worker that
/// runs its first turn.
std::string schedule_dot(const ScheduleReport& report);
/// Writes the turns for ui.perfetto.dev and chrome://tracing. Arrows show what crosses from one
/// worker to another.
std::string schedule_chrome_trace(const ScheduleReport& report);

}  // namespace pareto::report::schedule
