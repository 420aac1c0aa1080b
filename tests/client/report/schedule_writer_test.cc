#include "client/report/schedule/schedule_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/json_schema.h"

namespace pareto::report {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr Nanoseconds micros(int count) { return std::chrono::microseconds(count); }

/// Returns four operators of 2, 4, 3 and 1 ms, the second and third side by side, each a unit:
///   worker 0: 0 from 0 to 2 ms, 1 to 6 ms, 3 to 7 ms; worker 1: 2 from 2.1 to 5.1 ms.
schedule::ScheduleReport diamond() {
  schedule::ScheduleReport report;
  report.model = "toy";
  report.schedule = "clusters";
  report.engine = "prepacked";
  report.precision = "fp32";
  report.threads = 2;
  auto& [graph, timetable, turns, measured, one, all, predicted, peak] = report.trace;
  graph.nodes = {{"aten::conv2d", "stem", 2e6, 0, {}},
                 {"aten::conv2d", "left \"<&", 4e6, 0, {0}},
                 {"aten::relu_", "right", 3e6, 0, {0}},
                 {"aten::cat", "", 1e6, 0, {1, 2}}};
  timetable.units = {
      {{0}, "stem"}, {{1}, "left \"<&", {"compute"}}, {{2}, "right", {"memory"}}, {{3}, ""}};
  timetable.phases = {{{{{0, 0}, {1, 0}, {3, 0}}, {{2, 0}}}}};
  turns = {{0, 0, 0, micros(0), micros(2000)},
           {0, 1, 0, micros(2000), micros(6000)},
           {1, 2, 0, micros(2100), micros(5100)},
           {0, 3, 0, micros(6000), micros(7000)}};
  measured = micros(7000);
  one = micros(10'500);
  all = micros(7700);
  predicted = 7.01e6;
  peak = 3 << 20;
  return report;
}

/// Returns the same with a second phase: the last operator has all threads.
schedule::ScheduleReport with_shared_end() {
  schedule::ScheduleReport report = diamond();
  report.trace.timetable.phases = {{{{{0, 0}, {1, 0}}, {{2, 0}}}}, {{{{3, 0}}}, true}};
  return report;
}

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++found;
  }
  return found;
}

/// Returns the tags that are open at a document's end, or what closes none; "" if all is well.
std::string unbalanced(const std::string& document) {
  static const std::regex kTag("<(/?)([a-z]+)[^<>]*?(/?)>");
  std::vector<std::string> open;
  for (std::sregex_iterator at(document.begin(), document.end(), kTag), end; at != end; ++at) {
    const std::string name = (*at)[2];
    if ((*at)[1].length() == 0) {
      if ((*at)[3].length() == 0) open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "/" + name;
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back();
}

TEST(ScheduleReport, SaysHowMuchCouldRunAtATime) {
  const schedule::GraphFacts facts = schedule::facts_of(diamond().trace.graph);
  EXPECT_EQ(facts.nodes, 4U);
  EXPECT_EQ(facts.clusters, 2U);
  EXPECT_EQ(facts.merged, 2U);
  EXPECT_DOUBLE_EQ(facts.critical_path, 7e6);
  EXPECT_DOUBLE_EQ(facts.bound(), 10.0 / 7);
  EXPECT_DOUBLE_EQ(schedule::facts_of({}).bound(), 1);
}

TEST(ScheduleReport, SharesAreOfTheTimeFromTheFirstTurnToTheLast) {
  const auto shares = schedule::worker_shares(diamond());
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_DOUBLE_EQ(shares[0].share, 1);
  EXPECT_DOUBLE_EQ(shares[1].share, 3.0 / 7);
  EXPECT_EQ(shares[0].turns, 3U);
  const auto shared = schedule::worker_shares(with_shared_end());
  ASSERT_EQ(shared.size(), 2U);
  EXPECT_DOUBLE_EQ(shared[1].share, 4.0 / 7) << "all threads run the last operator";
  schedule::ScheduleReport nothing;
  nothing.trace.timetable = diamond().trace.timetable;
  EXPECT_DOUBLE_EQ(schedule::worker_shares(nothing).front().share, 0);
}

TEST(ScheduleTable, SaysWhatItGains) {
  schedule::ScheduleReport report = diamond();
  report.calls = schedule::GraphFacts{66, 9, 2, 66, 61};
  const std::string text = schedule::write_schedule_table(report, {}, false);
  EXPECT_THAT(text, HasSubstr("toy at batch 1 by schedule clusters, 2 threads, engine prepacked"));
  EXPECT_THAT(text, HasSubstr("calls       66 nodes, 9 clusters, 2 after merging; a speed-up of "
                              "1.08 at most"));
  EXPECT_THAT(text, HasSubstr("operators   4 nodes, 2 clusters, 2 after merging; a speed-up of "
                              "1.43 at most"));
  EXPECT_THAT(text, HasSubstr("critical path 7 ms of 10 ms"));
  EXPECT_THAT(text, HasSubstr("4 units, 1 part, 1 phase"));
  EXPECT_THAT(text, HasSubstr("0 100 %, 1 43 %"));
  EXPECT_THAT(text, HasSubstr("7 ms measured, 7.01 ms predicted"));
  EXPECT_THAT(text, HasSubstr("10.5 ms on one thread: the schedule is 1.50 times as fast"));
  EXPECT_THAT(text, HasSubstr("7.7 ms on 2 threads: 1.10 times as fast"));
  EXPECT_THAT(text, AllOf(HasSubstr("3.00 MiB"), Not(HasSubstr("right"))));
  const std::string units = schedule::write_schedule_table(with_shared_end(), {}, true);
  EXPECT_THAT(units, AllOf(HasSubstr("right"), HasSubstr("memory"), HasSubstr("all")));
  EXPECT_THAT(units, AllOf(HasSubstr("aten::relu_"), HasSubstr("one thread ms")));
  EXPECT_THAT(units, HasSubstr("cat")) << "a unit without a name is called after its operator";
}

TEST(ScheduleJson, FitsItsSchema) {
  schedule::ScheduleReport report = diamond();
  for (const bool more : {false, true}) {
    if (more) {
      report.calls = schedule::GraphFacts{66, 9, 2, 66, 61};
      report.reason = "the fastest of 3";
    }
    const json document = json::parse(schedule::write_schedule_json(report));
    EXPECT_THAT(test::violations(test::golden_schema("schedule"), document), IsEmpty());
    EXPECT_EQ(document.contains("calls"), more);
    EXPECT_EQ(document["operators"]["critical_path_ms"], 7);
    EXPECT_EQ(document["speed_up_over_one_thread"], 1.5);
    EXPECT_EQ(document["turns"].size(), 4U);
    EXPECT_EQ(document["nodes"][3]["after"], json::array({1, 2}));
    EXPECT_EQ(document["nodes"][2]["unit"], 2);
    EXPECT_EQ(document["units"][1]["tags"], json::array({"compute"}));
  }
}

TEST(ScheduleDot, HasEveryOperatorInItsUnit) {
  const std::string dot = schedule::schedule_dot(diamond());
  EXPECT_THAT(dot, testing::StartsWith("digraph schedule {\n"));
  EXPECT_EQ(count(dot, "subgraph cluster_"), 4U);
  EXPECT_EQ(count(dot, "{"), count(dot, "}"));
  EXPECT_EQ(count(dot, " -> "), 4U);
  EXPECT_THAT(dot, AllOf(HasSubstr("n0 -> n1;"), HasSubstr("n0 -> n2;"), HasSubstr("n1 -> n3;"),
                         HasSubstr("n2 -> n3;")));
  EXPECT_THAT(dot, HasSubstr(R"(n1 [label="conv2d left \"<&\n4.000 ms"];)"));
  EXPECT_THAT(dot, HasSubstr(R"(label="2: right\n3.000 ms on worker 1\nmemory")"));
}

TEST(ScheduleSvg, IsWellFormedWhateverUnitsAreCalled) {
  const std::string svg = schedule::schedule_svg(diamond());
  EXPECT_EQ(unbalanced(svg), "");
  EXPECT_EQ(count(svg, "<title>"), 4U);
  EXPECT_THAT(svg, HasSubstr("left &quot;&lt;&amp;"));
  EXPECT_THAT(svg, AllOf(HasSubstr("worker 0 · 100 %"), HasSubstr("worker 1 · 43 %")));
  EXPECT_THAT(svg, HasSubstr("2: right\n3.000 ms from 2.100 ms, 1 operator\nmemory"));
  const std::string inside = schedule::schedule_svg(diamond(), true);
  EXPECT_EQ(unbalanced(inside), "");
  EXPECT_THAT(inside, Not(HasSubstr("fill=\"#182030\""))) << "the page has its colours";
  EXPECT_EQ(unbalanced(schedule::schedule_svg(schedule::ScheduleReport{})), "") << "of nothing";
}

TEST(ScheduleSvg, ATurnOfAllThreadsSpansAllRows) {
  const auto heights = [](const schedule::ScheduleReport& report) {
    static const std::regex kHeight("<title>[^<]*</title><rect[^>]* height=\"([0-9.]+)\"");
    const std::string svg = schedule::schedule_svg(report);
    std::vector<double> all;
    for (std::sregex_iterator at(svg.begin(), svg.end(), kHeight), end; at != end; ++at) {
      all.push_back(std::stod((*at)[1]));
    }
    return all;
  };
  EXPECT_THAT(heights(diamond()), ElementsAre(38, 38, 38, 38));
  EXPECT_THAT(heights(with_shared_end()), ElementsAre(38, 38, 38, 84));
}

TEST(SchedulePage, HasFiguresChartAndUnits) {
  schedule::ScheduleReport report = diamond();
  report.model = "</script><b>";
  const auto page = schedule::schedule_page(report);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_THAT(*page, AllOf(HasSubstr(">1.50<"), HasSubstr(">1.10<"), HasSubstr("3.00 MiB"),
                           HasSubstr(">right</td>"), HasSubstr("<svg ")));
  EXPECT_THAT(*page,
              AllOf(Not(HasSubstr("<b>")), Not(HasSubstr("{{")), Not(HasSubstr("http://e"))));
}

TEST(ScheduleChromeTrace, HasATrackAWorkerAndAnArrowAHandOff) {
  const json trace = json::parse(schedule::schedule_chrome_trace(diamond()));
  EXPECT_EQ(trace["otherData"]["schedule"], "clusters");
  std::map<std::string, std::size_t> phases;
  std::vector<std::string> threads;
  for (const json& event : trace["traceEvents"]) {
    ++phases[event["ph"].get<std::string>()];
    if (event["name"] == "thread_name") threads.push_back(event["args"]["name"]);
    if (event["ph"] != "X" || event["name"] != "right") continue;
    EXPECT_EQ(event["tid"], 2);
    EXPECT_EQ(event["ts"], 2100);
    EXPECT_EQ(event["dur"], 3000);
    EXPECT_EQ(event["args"]["tags"], json::array({"memory"}));
  }
  EXPECT_THAT(threads, ElementsAre("worker 0", "worker 1"));
  EXPECT_EQ(phases["X"], 4U);
  EXPECT_EQ(phases["s"], 2U) << "to the right one, and back";
  EXPECT_EQ(phases["f"], 2U);
}

}  // namespace
}  // namespace pareto::report
