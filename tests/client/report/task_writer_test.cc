#include "client/report/tasks/task_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "client/report/tasks/task_rows.h"
#include "tests/support/json_schema.h"

namespace pareto::report {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr Nanoseconds ms(int count) { return std::chrono::milliseconds(count); }

/// Returns three tasks on two workers, the first split in two. They come at 10 ms.
///   worker 0: 0.0 from 10 to 30 ms, 1 from 30 to 60 ms;
///   worker 1: 0.1 from 30 to 50 ms, 2 to 80 ms.
tasks::TaskReport three_tasks(bool stopped = false) {
  tasks::TaskReport report;
  report.cores = 2;
  report.rounds = 1;
  report.set.models = {{.model = "heavy <&"}, {.model = "light"}};
  report.set.tasks = {{.model = 0, .arrival = ms(10)},
                      {.model = 1, .arrival = ms(10), .deadline = ms(50)},
                      {.model = 1, .arrival = ms(10), .deadline = ms(90)}};
  report.models = {{.title = "heavy <&",
                    .engine = "plain",
                    .ranges = {{0, 3, "after:layer1"}, {3, 7, ""}},
                    .stages = {1, 2}},
                   {.title = "light", .engine = "plain", .ranges = {{0, 2, ""}}}};
  report.costs = {{.whole = {ms(40)}, .stages = {{ms(20)}, {ms(20)}}, .alone = ms(36)},
                  {.whole = {ms(30)}, .alone = ms(25)}};
  tasks::Contestant run{.name = "heft", .about = "1 of 1 heavy is in 2 stages"};
  run.plan.problem = {.workers = std::vector<tasks::WorkerFacts>(2),
                      .tasks = {{ms(10), {}, 0, {{ms(20)}, {ms(20)}}},
                                {ms(10), ms(50), 0, {{ms(30)}}},
                                {ms(10), ms(90), 0, {{ms(30)}}}}};
  run.plan.split = {true, false, false};
  run.timeline.spans = {{{0, 0}, 0, ms(10), ms(30)},
                        {{0, 1}, 1, ms(30), ms(50)},
                        {{1, 0}, 0, ms(30), ms(60)},
                        {{2, 0}, 1, ms(50), ms(80)}};
  if (stopped) run.timeline.spans.pop_back();
  run.partial = report.stopped = stopped;
  const std::vector<Nanoseconds> alone{ms(36), ms(25), ms(25)};
  run.makespan = run.timeline.makespan();
  if (!stopped) run.makespans = {run.makespan};
  run.figures = figures_of(run.timeline, run.plan.problem, alone);
  report.predicted = run.figures;
  tasks::Contestant other = run;
  other.name = "queue";
  other.about = "whole tasks as they come";
  other.makespan = ms(100);
  report.contestants = {std::move(run), std::move(other)};
  return report;
}

/// Returns the cells of a page's table, row by row, as text.
std::vector<std::vector<std::string>> cells_of(const std::string& page, const std::string& title) {
  static const std::regex kRow("<tr[^>]*>(.*?)</tr>");
  static const std::regex kCell("<td[^>]*>([^<]*)");
  std::string table = page.substr(page.find(">" + title + "</h2>"));
  table = table.substr(0, table.find("</table>"));
  std::vector<std::vector<std::string>> rows;
  for (std::sregex_iterator at(table.begin(), table.end(), kRow), end; at != end; ++at) {
    const std::string row = (*at)[1];
    std::vector<std::string> cells;
    for (std::sregex_iterator cell(row.begin(), row.end(), kCell), last; cell != last; ++cell) {
      cells.push_back((*cell)[1]);
    }
    if (!cells.empty()) rows.push_back(std::move(cells));
  }
  return rows;
}

std::vector<std::vector<std::string>> cells_of(const CellTable& table) {
  std::vector<std::vector<std::string>> rows;
  for (const CellRow& row : table.rows) rows.push_back(row.cells);
  return rows;
}

TEST(TaskPage, HasTheFiguresOfTheTable) {
  for (const bool stopped : {false, true}) {
    tasks::TaskReport report = three_tasks(stopped);
    report.models[0].title = "heavy";
    const auto page = task_page(report);
    ASSERT_TRUE(page) << page.error().message;
    EXPECT_EQ(cells_of(*page, "Next to the baselines"), cells_of(ways_table(report)));
    EXPECT_EQ(cells_of(*page, "Models"), cells_of(models_table(report)));
    EXPECT_EQ(cells_of(*page, "Tasks"), cells_of(tasks_table(report)));
    const std::string text = write_task_table(report, {}, true);
    for (const auto& table : {ways_table(report), models_table(report), tasks_table(report)}) {
      for (const CellRow& row : table.rows) {
        for (const std::string& cell : row.cells) EXPECT_THAT(text, HasSubstr(cell));
      }
    }
  }
}

TEST(TaskPage, ItsChartCountsFromTheRunsBeginning) {
  const auto page = task_page(three_tasks());
  ASSERT_TRUE(page) << page.error().message;
  const tasks::TaskReport report = three_tasks();
  EXPECT_EQ(ways_table(report).rows[0].cells[6], "62 % 62 %");
  EXPECT_THAT(*page, AllOf(HasSubstr("worker 0 · 62 %"), HasSubstr("20.000 ms from 10.000 ms"),
                           HasSubstr("0 heavy &lt;&amp; 1/2")));
  EXPECT_THAT(*page, AllOf(Not(HasSubstr("heavy <")), Not(HasSubstr("{{"))));
}

TEST(TaskRows, WhatIsNotDoneHasNoFigures) {
  const auto rows = cells_of(tasks_table(three_tasks(/*stopped=*/true)));
  const std::vector<std::string> expected{"2",        "light", "10.00", "1",
                                          "not done", "-",     "-",     "90.00 missed"};
  EXPECT_EQ(rows[2], expected);
  EXPECT_EQ(rows[1].back(), "50.00 missed") << "it ended at 60 ms";
  EXPECT_EQ(cells_of(tasks_table(three_tasks()))[2].back(), "90.00");
  tasks::TaskReport nothing = three_tasks(true);
  tasks::Contestant& run = nothing.contestants[0];
  run.timeline.spans.clear();
  run.makespan = {};
  run.figures = figures_of(run.timeline, run.plan.problem, {});
  const std::vector<std::string> way{"schedule heft", "0.000", "1", "0", "-", "-", "0 % 0 %", "2"};
  EXPECT_EQ(ways_table(nothing).rows[0].cells, way);
  EXPECT_EQ(models_table(nothing).rows[0].cells[6], "-");
  EXPECT_TRUE(task_page(nothing));
  EXPECT_THAT(test::violations(test::golden_schema("tasks"), json::parse(write_task_json(nothing))),
              IsEmpty());
}

TEST(TaskSweep, PageAndTableHaveTheSameMixes) {
  tasks::TaskSweep sweep;
  EXPECT_THAT(task_sweep_page(sweep).value(), HasSubstr("No mix was run"));
  EXPECT_THAT(test::violations(test::golden_schema("tasks_sweep"),
                               json::parse(write_task_sweep_json(sweep))),
              IsEmpty());
  sweep.points = {{1.0 / 3, three_tasks()}, {0.5, three_tasks(true)}};
  const auto page = task_sweep_page(sweep);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(cells_of(*page, "Mixes"), cells_of(mixes_table(sweep)));
  EXPECT_EQ(mixes_table(sweep).rows[0].cells.front(), "33.33 %");
  EXPECT_EQ(mixes_table(sweep).rows[0].cells.back(), "1.25") << "100 ms over 80 ms";
  EXPECT_EQ(mixes_table(sweep).rows[1].cells.back(), "-") << "it was stopped";
  json document = json::parse(write_task_sweep_json(sweep));
  EXPECT_THAT(test::violations(test::golden_schema("tasks_sweep"), document), IsEmpty());
  document["mixes"][0].erase("heavy_share");
  document["mixes"][1]["schedule"].erase("name");
  EXPECT_EQ(test::violations(test::golden_schema("tasks_sweep"), document).size(), 2U);
}

}  // namespace
}  // namespace pareto::report
