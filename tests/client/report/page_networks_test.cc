// The parts of the page that compare networks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/results/best_by_network.h"
#include "tests/client/report/report_page_fixture.h"
#include "tests/support/synthetic_run.h"

namespace pareto::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(ReportPage, HasNoCardsOfNetworksWhereThereIsOne) {
  const std::string page = dom(test::synthetic_run({.batches = {1}, .split_points = 3}));
  EXPECT_THAT(page, HasSubstr("aria-labelledby=\"fronts-title\" hidden"));
  EXPECT_THAT(page, HasSubstr("aria-labelledby=\"moves-title\" hidden"));
}

TEST_F(ReportPage, ShowsAFrontForEachNetwork) {
  const results::RunRecord run = test::synthetic_network_sweep();
  for (const char* view : {"", "scales=one"}) {
    const std::string page = dom(run, view);
    EXPECT_EQ(count(page, "class=\"small\""), 11U);
    EXPECT_EQ(count(page, "data-shown=\"42\""), 10U);
    EXPECT_THAT(page, HasSubstr("4.2 ms round trip · 100 Mbit/s"));
    EXPECT_THAT(page, HasSubstr("The network was reached, but all 42 plans failed: "
                                "measuring: no result within 30 s"));
    const std::string chart = part(page, "data-shown", "</figure>");
    EXPECT_GE(count(chart, "<path"), 42U) << "a path a point";
  }
}

TEST_F(ReportPage, ShowsTheBestSplitOfEachNetwork) {
  const results::RunRecord run = test::synthetic_network_sweep();
  const std::string page = dom(run);
  EXPECT_EQ(attribute(page, "data-moves"), 10);
  const std::string table = part(page, "id=\"moves-table\"", "</table>");
  for (const results::NetworkBest& at : results::best_by_network(run)) {
    if (at.batch != 1) continue;
    const std::string row = part(table, "data-key=\"row of " + at.condition + "\"", "</tr>");
    if (at.measured == 0) {
      EXPECT_THAT(row, HasSubstr("but all 42 plans failed"));
      continue;
    }
    EXPECT_THAT(row, HasSubstr(at.split.fastest->split->name + ", " + at.split.fastest->transport));
    EXPECT_THAT(row, HasSubstr(at.split.most_productive->split->name + ", " +
                               at.split.most_productive->transport));
  }
  EXPECT_THAT(page, HasSubstr("One split for all of them: after:features."));
  // What the page finds by itself, where a transport is left out, is what the run would say without
  // it.
  results::RunRecord without = run;
  std::erase_if(without.trials,
                [](const results::TrialRecord& trial) { return trial.transport == "tcp"; });
  const std::string fewer =
      part(dom(run, "without=tcp&goal=throughput"), "id=\"moves-table\"", "</table>");
  for (const results::NetworkBest& at : results::best_by_network(without)) {
    if (at.batch != 1 || at.measured == 0) continue;
    const std::string row = part(fewer, "data-key=\"row of " + at.condition + "\"", "</tr>");
    EXPECT_THAT(row, HasSubstr(at.split.fastest->split->name + ", grpc"));
    EXPECT_THAT(row, HasSubstr(at.split.most_productive->split->name + ", grpc"));
  }
}

TEST_F(ReportPage, ATitleChoosesItsNetworkAndKeepsThePlanAndTheFocus) {
  const std::string page =
      dom(test::synthetic_network_sweep(), "plan=after:features.7/tcp/b1&condition=none", R"(
        const button = document.querySelector('[data-key="row of 4-near"]');
        button.focus();
        button.click();
        document.body.dataset.focus = document.activeElement.dataset.key;
        const title = [...document.querySelectorAll('.small-title')].find((title) => title.textContent.startsWith('20-far'));
        title.click();)");
  EXPECT_THAT(page, HasSubstr("data-focus=\"row of 4-near\""));
  EXPECT_THAT(page, HasSubstr("data-key=\"Network 20-far\" aria-pressed=\"true\""));
  EXPECT_THAT(page, HasSubstr("data-key=\"front of 20-far\" aria-pressed=\"true\""));
  EXPECT_THAT(part(page, "id=\"detail\"", "</aside>"), HasSubstr("after:features.7<"));
}

TEST_F(ReportPage, APointChoosesItsPlanAndNetwork) {
  // Where the pictures' points lie is known to the chart library alone; the mouse is what a reader
  // uses.
  const std::string mouse = R"(
    const click = (element, series) => {
      element.scrollIntoView();
      const chart = echarts.getInstanceByDom(element);
      const [point] = chart.getOption().series[series].data;
      const [x, y] = chart.convertToPixel({xAxisIndex: 0, yAxisIndex: 0}, point.value);
      const root = element.firstElementChild;
      const box = root.getBoundingClientRect();
      for (const type of ['mousemove', 'mousedown', 'mouseup', 'click']) {
        root.dispatchEvent(new MouseEvent(type, {bubbles: true, clientX: box.left + x, clientY: box.top + y}));
      }
      document.body.dataset.clicked = point.trial;
    };
  )";
  const results::RunRecord run = test::synthetic_network_sweep();
  for (const auto& [what, network] :
       {std::pair("click(document.querySelectorAll('.small-chart')[4], 1);", "100-far"),
        std::pair("click(document.getElementById('moves-chart'), 3);", "1-near")}) {
    const std::string page = dom(run, "", mouse + what);
    const std::string id = part(page, "data-clicked=\"", "\">").substr(14);
    EXPECT_THAT(id, HasSubstr(network));
    EXPECT_THAT(
        page, HasSubstr("data-key=\"Network " + std::string(network) + "\" aria-pressed=\"true\""));
    EXPECT_THAT(part(page, "id=\"detail\"", "</aside>"),
                HasSubstr(id.substr(0, id.find('/')) + "<"));
  }
}

TEST_F(ReportPage, NetworksMayBeUnmeasuredOrHaveNoSplit) {
  results::RunRecord run = test::synthetic_network_sweep();
  std::erase_if(run.trials, [](const results::TrialRecord& trial) {
    return trial.batch != 1 || trial.transport != "tcp" ||
           (trial.condition != "none" && trial.condition != "4-far");
  });
  results::RunRecord unsplit = run;
  std::erase_if(unsplit.trials,
                [](const results::TrialRecord& trial) { return trial.split.has_value(); });
  std::string page = part(dom(unsplit), "<body>", "<script");
  EXPECT_EQ(count(page, "data-shown=\"2\""), 2U);
  EXPECT_EQ(count(page, "No split was measured."), 2U);
  // Begun, and nothing done yet: of the second network nothing is known.
  for (results::TrialRecord& trial : run.trials) {
    trial.latency = {};
    trial.on_front = false;
    if (trial.condition != "none") trial.network.reset();
  }
  page = part(dom(run), "<body>", "<script");
  EXPECT_EQ(count(page, "class=\"small\""), 2U);
  EXPECT_EQ(count(page, "data-shown"), 0U);
  EXPECT_THAT(page, HasSubstr("Not measured yet."));
  EXPECT_THAT(page, HasSubstr("id=\"problem\" class=\"problem\" role=\"alert\" hidden"));
}

TEST_F(ReportPage, NamesOfNetworksAreTextToo) {
  results::RunRecord run = test::synthetic_network_sweep();
  std::erase_if(run.trials, [](const results::TrialRecord& trial) {
    return trial.batch != 1 || (trial.condition != "none" && !trial.condition.ends_with("far"));
  });
  for (results::TrialRecord& trial : run.trials) {
    if (trial.condition != "none") trial.condition = "<img src=x>\"" + trial.condition;
  }
  const std::string page = dom(run, "", "document.querySelectorAll('.small-title')[2].click()");
  const std::string body =
      page.substr(page.find("<body>"), page.find("<script") - page.find("<body>"));
  EXPECT_THAT(body, Not(HasSubstr("<img")));
  EXPECT_THAT(body, HasSubstr("&lt;img src=x"));
}

}  // namespace
}  // namespace pareto::report
