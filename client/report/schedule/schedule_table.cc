#include <chrono>

#include "client/report/schedule/schedule_writer.h"
#include "client/report/schedule/unit_table.h"
#include "client/report/text_table.h"
#include "core/base/counted.h"
#include "core/base/printable.h"
#include "core/base/text.h"

namespace pareto::report::schedule {
namespace {

/// Returns "8.102 ms".
std::string ms_text(double nanoseconds) { return fmt::format("{:.4g} ms", nanoseconds / 1e6); }
std::string ms_text(Nanoseconds time) { return ms_text(to_nanoseconds(time)); }

/// Returns "66 nodes, 9 clusters, 2 after merging, a speed-up of 1.08 at most".
std::string graph_text(const GraphFacts& facts) {
  return fmt::format("{}, {}, {} after merging; a speed-up of {:.2f} at most",
                     counted(facts.nodes, "node"), counted(facts.clusters, "cluster"), facts.merged,
                     facts.bound());
}

std::string sequential_line(const ScheduleReport& report) {
  const schedules::ScheduleTrace& trace = report.trace;
  return fmt::format(
      "sequential  {} on one thread: the schedule is {:.2f} times as fast\n"
      "            {} on {}: {:.2f} times as fast\n",
      ms_text(trace.sequential_one), report.gain_over(trace.sequential_one),
      ms_text(trace.sequential_all), counted(report.threads, "thread"),
      report.gain_over(trace.sequential_all));
}

std::string operators_table(const ScheduleReport& report, const ReportStyle& style) {
  TextTable table({{"operator", Align::kRight},
                   {"kind", Align::kLeft},
                   {"module", Align::kLeft},
                   {"unit", Align::kRight},
                   {"one thread ms", Align::kRight},
                   {"all threads ms", Align::kRight, 1},
                   {"output", Align::kRight, 2}});
  const std::vector<std::size_t> units = units_of_operators(report.trace);
  for (std::size_t i = 0; i < units.size(); ++i) {
    const schedules::WeightedNode& node = report.trace.graph.nodes[i];
    table.add({std::to_string(i), printable(node.kind),
               node.scope.empty() ? "-" : printable(node.scope), std::to_string(units[i]),
               fmt::format("{:.3f}", node.cost / 1e6),
               node.cost_all > 0 ? fmt::format("{:.3f}", node.cost_all / 1e6) : "-",
               format_bytes(node.output_bytes)});
  }
  return "\n" + table.render(style);
}

}  // namespace

std::string write_schedule_table(const ScheduleReport& report, const ReportStyle& style, bool all) {
  const schedules::ScheduleTrace& trace = report.trace;
  std::string text =
      heading(fmt::format("{} at batch {} by schedule {}, {}, engine {}, {}", report.model,
                          report.batch, report.schedule, counted(report.threads, "thread"),
                          report.engine, report.precision),
              style);
  if (!report.reason.empty()) text += paragraph(report.reason, RowStyle::kFaint, style);
  if (report.calls) text += fmt::format("calls       {}\n", graph_text(*report.calls));
  const GraphFacts run = facts_of(trace.graph);
  text += fmt::format("operators   {}\n", graph_text(run));
  text += fmt::format("            critical path {} of {}\n", ms_text(run.critical_path),
                      ms_text(run.total));
  text += fmt::format("schedule    {}, {}, {}\n", counted(trace.timetable.units.size(), "unit"),
                      counted(trace.timetable.parts, "part"),
                      counted(trace.timetable.phases.size(), "phase"));
  std::vector<std::string> workers;
  for (const WorkerShare& one : worker_shares(report)) {
    workers.push_back(fmt::format("{} {:.0f} %", workers.size(), 100 * one.share));
  }
  text += fmt::format("workers     {}: shares of the time that they work\n", join(workers));
  text += fmt::format("time        {} measured, {} predicted\n", ms_text(trace.measured),
                      ms_text(trace.predicted));
  text += sequential_line(report);
  text += fmt::format("memory      {} of values at most\n", format_bytes(trace.peak_bytes));
  if (!all) return text;
  return text + "\n" + cells_text(unit_table(report), style) + operators_table(report, style);
}

}  // namespace pareto::report::schedule
