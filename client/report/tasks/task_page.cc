#include <algorithm>

#include "client/report/assets.h"
#include "client/report/html_text.h"
#include "client/report/plan_text.h"
#include "client/report/schedule/schedule_colours.h"
#include "client/report/schedule/schedule_writer.h"
#include "client/report/tasks/task_writer.h"
#include "core/base/counted.h"

namespace pareto::report {
namespace {

constexpr std::string_view kTaskPage = R"(<!doctype html>
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
.picture { overflow-x: auto; }
.picture svg { display: block; height: auto; width: 100%; }
:is(td, th):nth-child(2) { text-align: left; }
</style>
</head>
<body>
<main>
  <div class="hero"><h1>{{title}}</h1><p class="muted">{{subtitle}}</p></div>
  <section class="headlines" aria-label="Figures" style="margin-top:20px">{{headlines}}</section>
  <section class="card" aria-labelledby="picture-title">
    <h2 id="picture-title">{{picture_title}}</h2>
    <div class="picture" tabindex="0">{{picture}}</div>
  </section>
  <section class="card" aria-labelledby="ways-title">
    <h2 id="ways-title">{{ways_title}}</h2>
    <div class="scroll"><table class="plain" aria-labelledby="ways-title">{{ways}}</table></div>
  </section>
  <section class="card" aria-labelledby="rows-title">
    <h2 id="rows-title">{{rows_title}}</h2>
    <div class="scroll"><table class="plain" aria-labelledby="rows-title">{{rows}}</table></div>
  </section>
</main>
<script>
'use strict';
if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.dataset.theme = 'dark';
</script>
</body>
</html>
)";

using Cells = std::vector<std::string>;

std::string cells_html(const Cells& cells, const char* tag) {
  std::string row = "<tr>";
  for (const std::string& cell : cells)
    row += fmt::format("<{0}>{1}</{0}>", tag, html_escaped(cell));
  return row + "</tr>\n";
}

std::string table_html(const Cells& titles, const std::vector<Cells>& rows) {
  std::string text = "<thead>" + cells_html(titles, "th") + "</thead><tbody>";
  for (const Cells& row : rows) text += cells_html(row, "td");
  return text + "</tbody>";
}

std::string headline_html(const std::string& title, const std::string& figure,
                          const std::string& note) {
  return fmt::format(
      "<div class=\"headline\"><span>{}</span><strong>{}</strong><span>{}</span></div>",
      html_escaped(title), html_escaped(figure), html_escaped(note));
}

std::string page_ms(Nanoseconds time) { return format_figure(to_milliseconds(time)); }

std::string headlines_html(const tasks::TaskReport& report) {
  const tasks::Contestant& run = report.schedule();
  std::string text =
      headline_html("all tasks take", page_ms(run.makespan) + " ms", prediction_text(report));
  for (const tasks::Contestant& other : report.contestants) {
    if (&other == &run || report.speed_up_over(other) <= 0) continue;
    text += headline_html("times as fast as " + other.name,
                          fmt::format("{:.2f}", report.speed_up_over(other)),
                          page_ms(other.makespan) + " ms, " + other.about);
  }
  return text +
         headline_html("tasks a second", fmt::format("{:.4g}", run.figures.throughput_per_s),
                       fmt::format("slowdown {:.2f} in the mean", run.figures.mean_slowdown));
}

std::string ways_html(const tasks::TaskReport& report) {
  std::vector<Cells> rows;
  for (const tasks::Contestant& one : report.contestants) {
    std::string busy;
    for (const tasks::WorkerUse& use : one.figures.workers) {
      busy += fmt::format("{}{:.0f} %", busy.empty() ? "" : ", ", 100 * use.share);
    }
    rows.push_back({one.name, one.about, page_ms(one.makespan),
                    fmt::format("{:.2f}", report.speed_up_over(one)),
                    fmt::format("{:.4g}", one.figures.throughput_per_s),
                    page_ms(one.figures.mean_completion),
                    fmt::format("{:.2f}", one.figures.mean_slowdown), busy,
                    std::to_string(one.figures.misses)});
  }
  return table_html({"way", "what it does", "makespan ms", "speed-up", "tasks/s", "completion ms",
                     "slowdown", "workers busy", "missed deadlines"},
                    rows);
}

std::string tasks_html(const tasks::TaskReport& report) {
  std::vector<Cells> rows;
  const tasks::Contestant& run = report.schedule();
  for (std::size_t i = 0; i < report.set.tasks.size(); ++i) {
    const tasks::Task& task = report.set.tasks[i];
    const tasks::TaskOutcome& outcome = run.figures.tasks[i];
    rows.push_back({std::to_string(i), report.models[task.model].title, page_ms(task.arrival),
                    std::to_string(run.plan.problem.tasks[i].stages.size()),
                    outcome.finish ? page_ms(*outcome.finish) : "not done",
                    outcome.finish ? page_ms(outcome.completion) : "-",
                    fmt::format("{:.2f}", outcome.slowdown),
                    !task.deadline   ? "-"
                    : outcome.missed ? "missed"
                                     : "met"});
  }
  return table_html({"task", "model", "comes at ms", "stages", "done at ms", "completion ms",
                     "slowdown", "deadline"},
                    rows);
}

/// Draws a curve for each baseline: how many times as fast the schedule is, over the share of heavy
/// tasks.
std::string curve_svg(const tasks::TaskSweep& sweep) {
  constexpr double kWidth = 900;
  constexpr double kHeight = 360;
  constexpr double kLeft = 60;
  constexpr double kTop = 16;
  constexpr double kBottom = 320;
  double most = 1;
  for (const tasks::SweepPoint& point : sweep.points) {
    for (const tasks::Contestant& one : point.report.contestants) {
      most = std::max(most, point.report.speed_up_over(one));
    }
  }
  most = std::max(1.5, most * 1.1);
  const auto x = [&](double share) { return kLeft + share * (kWidth - kLeft - 20); };
  const auto y = [&](double speed_up) { return kBottom - speed_up / most * (kBottom - kTop); };
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:g} {:g}\" role=\"img\" "
      "aria-label=\"speed-up by the share of heavy tasks\" font-family=\"system-ui, sans-serif\" "
      "font-size=\"12\" fill=\"currentColor\">\n",
      kWidth, kHeight);
  for (int half = 0; half <= static_cast<int>(2 * most); ++half) {
    const double tick = half / 2.0;
    text += fmt::format(
        "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"currentColor\" "
        "stroke-opacity=\"{}\"/><text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:g}</text>\n",
        kLeft, kWidth - 20, y(tick), y(tick), tick == 1 ? 0.6 : 0.18, kLeft - 8, y(tick) + 4, tick);
  }
  for (int tenth = 0; tenth <= 10; ++tenth) {
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{} %</text>\n",
                        x(tenth / 10.0), kBottom + 18, 10 * tenth);
  }
  const std::size_t count =
      sweep.points.empty() ? 0 : sweep.points.front().report.contestants.size();
  for (std::size_t i = 1; i < count; ++i) {
    std::string points;
    std::string dots;
    for (const tasks::SweepPoint& point : sweep.points) {
      const tasks::Contestant& other = point.report.contestants[i];
      const double speed_up = point.report.speed_up_over(other);
      if (speed_up <= 0) continue;
      const double px = x(point.heavy_share);
      points += fmt::format("{:.1f},{:.1f} ", px, y(speed_up));
      dots += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"><title>{:.0f} % heavy: {:.2f} "
          "times as fast as {}</title></circle>\n",
          px, y(speed_up), strong_colour(i - 1), 100 * point.heavy_share, speed_up,
          html_escaped(other.name));
    }
    text +=
        fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n",
                    points, strong_colour(i - 1)) +
        dots +
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\">over {}</text>\n",
                    kLeft + 160 * static_cast<double>(i - 1), kHeight - 4, strong_colour(i - 1),
                    html_escaped(sweep.points.front().report.contestants[i].name));
  }
  return text + "</svg>\n";
}

}  // namespace

Expected<std::string> task_page(const tasks::TaskReport& report) {
  const std::string title =
      html_escaped(fmt::format("{} on {}", counted(report.set.tasks.size(), "task"),
                               counted(report.schedule().plan.problem.workers.size(), "worker")));
  const std::string subtitle = html_escaped(report.schedule().about);
  const std::string headlines = headlines_html(report);
  const std::string picture = schedule_svg(as_schedule(report), /*in_page=*/true);
  const std::string ways = ways_html(report);
  const std::string rows = tasks_html(report);
  return filled(kTaskPage, {{"title", title},
                            {"css", report_css()},
                            {"subtitle", subtitle},
                            {"headlines", headlines},
                            {"picture_title", "Who runs what, when"},
                            {"picture", picture},
                            {"ways_title", "Next to the baselines"},
                            {"ways", ways},
                            {"rows_title", "Tasks"},
                            {"rows", rows}});
}

Expected<std::string> task_sweep_page(const tasks::TaskSweep& sweep) {
  std::vector<Cells> rows;
  std::vector<Cells> choices;
  for (const tasks::SweepPoint& point : sweep.points) {
    for (const tasks::Contestant& one : point.report.contestants) {
      rows.push_back({fmt::format("{:.0f} %", 100 * point.heavy_share), one.name,
                      page_ms(one.makespan), fmt::format("{:.2f}", point.report.speed_up_over(one)),
                      fmt::format("{:.4g}", one.figures.throughput_per_s)});
    }
    choices.push_back({fmt::format("{:.0f} %", 100 * point.heavy_share),
                       point.report.schedule().about, prediction_text(point.report)});
  }
  const std::string title = "Speed-up by the share of heavy tasks";
  const std::string subtitle =
      sweep.points.empty()
          ? "No mix was run"
          : counted(sweep.points.front().report.set.tasks.size(), "task") + " in each mix";
  const std::string picture = curve_svg(sweep);
  const std::string ways = table_html({"heavy", "way", "makespan ms", "speed-up", "tasks/s"}, rows);
  const std::string chosen = table_html({"heavy", "what was chosen", "makespan"}, choices);
  return filled(kTaskPage, {{"title", title},
                            {"css", report_css()},
                            {"subtitle", subtitle},
                            {"headlines", ""},
                            {"picture_title", "Speed-up over the baselines"},
                            {"picture", picture},
                            {"ways_title", "Next to the baselines"},
                            {"ways", ways},
                            {"rows_title", "What was chosen"},
                            {"rows", chosen}});
}

}  // namespace pareto::report
