#include "client/report/assets.h"
#include "client/report/html_text.h"
#include "client/report/plan_text.h"
#include "client/report/schedule/schedule_writer.h"
#include "core/base/counted.h"
#include "core/base/printable.h"
#include "core/base/text.h"

namespace pareto::report {
namespace {

constexpr std::string_view kPage = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">
<meta name="color-scheme" content="light dark">
<title>{{title}} · Pareto Edge</title>
<link rel="icon" href="data:,">
<style>
{{css}}
#gantt { overflow-x: auto; }
#gantt svg { display: block; height: auto; width: 100%; }
td { white-space: pre-line; }
[aria-labelledby="units-title"] :is(td, th):nth-child(2) { text-align: left; }
</style>
</head>
<body>
<main>
  <div class="hero"><h1>{{title}}</h1><p class="muted">{{subtitle}}</p></div>
  <section class="headlines" aria-label="Figures" style="margin-top:20px">{{headlines}}</section>
  <section class="card" aria-labelledby="gantt-title">
    <div class="card-head">
      <div><h2 id="gantt-title">Who runs what, when</h2><p class="muted">One measured run, a row a worker. Point at a bar for its unit.</p></div>
      <label class="muted">Zoom <input id="zoom" type="range" min="1" max="16" value="1" aria-label="Zoom"></label>
    </div>
    <div id="gantt" tabindex="0">{{chart}}</div>
  </section>
  <section class="card" aria-labelledby="graph-title">
    <h2 id="graph-title">What could run at a time</h2>
    <div class="scroll"><table class="plain" aria-labelledby="graph-title"><thead><tr><th>graph</th><th>nodes</th><th>clusters</th><th>after merging</th><th>speed-up at most</th></tr></thead><tbody>{{graphs}}</tbody></table></div>
  </section>
  <section class="card" aria-labelledby="units-title">
    <h2 id="units-title">Units</h2>
    <div class="scroll"><table class="plain" aria-labelledby="units-title"><thead><tr><th>unit</th><th>name</th><th>operators</th><th>tags</th><th>workers</th><th>one thread ms</th><th>measured ms</th></tr></thead><tbody>{{units}}</tbody></table></div>
  </section>
</main>
<script>
'use strict';
if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.dataset.theme = 'dark';
const chart = document.querySelector('#gantt svg');
document.getElementById('zoom').addEventListener('input', (event) => { chart.style.width = `${100 * event.target.value}%`; });
</script>
</body>
</html>
)";

std::string row_of(const std::vector<std::string>& cells) {
  std::string row = "<tr>";
  for (const std::string& cell : cells) row += "<td>" + html_escaped(cell) + "</td>";
  return row + "</tr>\n";
}

std::string headline(const std::string& title, const std::string& figure, const std::string& note) {
  return fmt::format(
      "<div class=\"headline\"><span>{}</span><strong>{}</strong><span>{}</span></div>",
      html_escaped(title), html_escaped(figure), html_escaped(note));
}

std::string headlines_of(const ScheduleReport& report) {
  const schedules::ScheduleTrace& trace = report.trace;
  const auto gain = [&](Nanoseconds time) { return fmt::format("{:.2f}", report.gain_over(time)); };
  const auto ms = [](Nanoseconds time) { return format_figure(to_milliseconds(time)) + " ms"; };
  return headline("a request takes", ms(trace.measured),
                  format_figure(trace.predicted / 1e6) + " ms predicted") +
         headline("times as fast as one thread", gain(trace.sequential_one),
                  ms(trace.sequential_one) + ", one operator after the other") +
         headline("times as fast as " + counted(report.threads, "thread"),
                  gain(trace.sequential_all),
                  ms(trace.sequential_all) + ", which share each operator") +
         headline("memory of values", format_bytes(trace.peak_bytes), "alive at one time, at most");
}

std::string graph_row(const std::string& name, const GraphFacts& facts) {
  return row_of({name, std::to_string(facts.nodes), std::to_string(facts.clusters),
                 std::to_string(facts.merged), fmt::format("{:.2f}", facts.bound())});
}

std::string units_of(const ScheduleReport& report) {
  std::string rows;
  std::size_t number = 0;
  for (const UnitFacts& unit : unit_facts(report.trace)) {
    rows += row_of({std::to_string(number++), unit.name, std::to_string(unit.operators), unit.tags,
                    workers_text(unit), fmt::format("{:.3f}", unit.cost / 1e6),
                    fmt::format("{:.3f}", to_milliseconds(unit.time))});
  }
  return rows;
}

}  // namespace

Expected<std::string> schedule_page(const ScheduleReport& report) {
  std::string subtitle = fmt::format("Batch {}, schedule {}, engine {}, {}, {}", report.batch,
                                     printable(report.schedule), report.engine, report.precision,
                                     counted(report.threads, "thread"));
  if (!report.reason.empty()) subtitle += ": " + report.reason;
  std::string graphs;
  if (report.calls) graphs += graph_row("calls of modules and functions", *report.calls);
  graphs += graph_row("operators that are run, by their times", facts_of(report.trace.graph));
  const std::string title = html_escaped(printable(report.model));
  const std::string escaped = html_escaped(subtitle);
  const std::string headlines = headlines_of(report);
  const std::string chart = schedule_svg(report, /*in_page=*/true);
  const std::string units = units_of(report);
  return filled(kPage, {{"title", title},
                        {"css", report_css()},
                        {"subtitle", escaped},
                        {"headlines", headlines},
                        {"chart", chart},
                        {"graphs", graphs},
                        {"units", units}});
}

}  // namespace pareto::report
