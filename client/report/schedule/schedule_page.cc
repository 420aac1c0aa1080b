#include "client/report/figure_page.h"
#include "client/report/plan_text.h"
#include "client/report/schedule/schedule_writer.h"
#include "client/report/schedule/unit_table.h"
#include "core/base/counted.h"
#include "core/base/printable.h"
#include "core/base/text.h"

namespace pareto::report::schedule {
namespace {

std::vector<Headline> headlines_of(const ScheduleReport& report) {
  const schedules::ScheduleTrace& trace = report.trace;
  const auto gain = [&](Nanoseconds time) { return fmt::format("{:.2f}", report.gain_over(time)); };
  const auto ms = [](Nanoseconds time) { return format_figure(to_milliseconds(time)) + " ms"; };
  return {{"a request takes", ms(trace.measured),
           format_figure(trace.predicted / 1e6) + " ms predicted"},
          {"times as fast as one thread", gain(trace.sequential_one),
           ms(trace.sequential_one) + ", one operator after the other"},
          {"times as fast as " + counted(report.threads, "thread"), gain(trace.sequential_all),
           ms(trace.sequential_all) + ", which share each operator"},
          {"memory of values", format_bytes(trace.peak_bytes), "alive at one time, at most"}};
}

void add_graph(const std::string& name, const GraphFacts& facts, CellTable& table) {
  table.rows.push_back(
      {.cells = {name, std::to_string(facts.nodes), std::to_string(facts.clusters),
                 std::to_string(facts.merged), fmt::format("{:.2f}", facts.bound())}});
}

CellTable graph_table(const ScheduleReport& report) {
  CellTable table{.columns = {{"graph", Align::kLeft},
                              {"nodes", Align::kRight},
                              {"clusters", Align::kRight},
                              {"after merging", Align::kRight},
                              {"speed-up at most", Align::kRight}}};
  if (report.calls) add_graph("calls of modules and functions", *report.calls, table);
  add_graph("operators that are run, by their times", facts_of(report.trace.graph), table);
  return table;
}

}  // namespace

Expected<std::string> schedule_page(const ScheduleReport& report) {
  FigurePage page{.title = printable(report.model),
                  .subtitle = fmt::format("Batch {}, schedule {}, engine {}, {}, {}", report.batch,
                                          printable(report.schedule), report.engine,
                                          report.precision, counted(report.threads, "thread"))};
  if (!report.reason.empty()) page.subtitle += ": " + report.reason;
  page.headlines = headlines_of(report);
  page.picture_title = "Who runs what, when";
  page.picture_note = "One measured run, a row a worker. Point at a bar for its unit.";
  page.picture = schedule_svg(report, /*in_page=*/true);
  page.zoom = true;
  page.tables = {{"What could run at a time", graph_table(report)}, {"Units", unit_table(report)}};
  return figure_page(page);
}

}  // namespace pareto::report::schedule
