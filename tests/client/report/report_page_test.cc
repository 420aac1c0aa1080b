// The page in a real browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/replay/simulated_record.h"
#include "core/base/text.h"
#include "tests/client/report/report_page_fixture.h"
#include "tests/support/synthetic_run.h"

namespace pareto::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(ReportPage, DrawsEveryPlanOfTheFirstBatch) {
  const results::RunRecord run = test::synthetic_run();
  const std::string page = dom(run);
  EXPECT_EQ(attribute(page, "data-points"), static_cast<int>(measured(run, 1, "")));
  const auto front = std::ranges::count_if(run.trials, [](const results::TrialRecord& trial) {
    return trial.batch == 1 && trial.on_front;
  });
  EXPECT_EQ(attribute(page, "data-front"), front) << "the page's front is the run's";
  // Each point is a path of the drawing, next to axes and error bars.
  const std::size_t chart = page.find("id=\"chart\"");
  EXPECT_GE(count(page.substr(chart, page.find("id=\"legend\"") - chart), "<path"),
            measured(run, 1, ""));
  EXPECT_EQ(count(page, "<tr class=\"front"), static_cast<std::size_t>(front));
  EXPECT_THAT(page, HasSubstr("mobilenetv2</h1>"));
  EXPECT_THAT(page, HasSubstr("1.2 GiB is more than its limit of 1 GiB"));
  EXPECT_THAT(page, HasSubstr("Cortex-A76"));
}

TEST_F(ReportPage, DrawsWhatWasPredictedOnlyApart) {
  const results::RunRecord run = test::synthetic_adaptive_sweep();
  const auto unmeasured = std::ranges::count_if(
      run.trials, [](const results::TrialRecord& trial) { return trial.latency.samples == 0; });
  const std::string page = dom(run);
  EXPECT_EQ(attribute(page, "data-expected"), unmeasured);
  EXPECT_EQ(attribute(page, "data-points"), std::ssize(run.trials) - unmeasured);
  EXPECT_THAT(part(page, "id=\"legend\"", "</p>"), HasSubstr("predicted, not measured"));
  EXPECT_THAT(part(page, "id=\"chart-note\"", "</p>"),
              HasSubstr(std::to_string(unmeasured) +
                        " more were predicted only; 1 of those may be on the front"));
  EXPECT_THAT(part(page, "id=\"accuracy-note\"", "</p>"),
              HasSubstr("the median one was off by 5 % in latency, 95 % of them by less than 5 %"));
  EXPECT_THAT(part(page, "id=\"accuracy-table\"", "</table>"), HasSubstr("<td>4 %</td>"))
      << "in throughput";
  EXPECT_EQ(count(part(page, "id=\"accuracy-plans\"", "</table>"), "<tr>"),
            run.trials.size() - static_cast<std::size_t>(unmeasured) + 1);
  EXPECT_THAT(page, Not(HasSubstr("not measured</h2>")));
}

TEST_F(ReportPage, SaysNotToSplitIfOneDeviceAloneIsBetter) {
  results::RunRecord run = test::synthetic_run({.transports = {"tcp"}, .batches = {1}});
  EXPECT_THAT(part(dom(run), "id=\"headlines\"", "</section>"),
              AllOf(HasSubstr("Gained by splitting"), Not(HasSubstr("Don’t split"))));
  for (results::TrialRecord& trial : run.trials) {
    if (trial.split || trial.latency.samples == 0) continue;
    if (trial.plan.stages[0].device != "pi-1") continue;
    trial.latency.p50_ms = 2;
    trial.throughput.samples_per_s = 500;
  }
  EXPECT_THAT(part(dom(run), "id=\"headlines\"", "</section>"),
              AllOf(HasSubstr("Don’t split"), HasSubstr("pi-1 alone: 2.000 ms, 500.0 samples/s"),
                    Not(HasSubstr("Gained by"))));
}

TEST_F(ReportPage, OffersEnergyIfDevicesSayWhatTheyTake) {
  results::RunRecord run = test::synthetic_run({.transports = {"tcp"}, .batches = {1}});
  run.options_json = R"({"device_figures":{"pi-1":{"power":5000},"pi-2":{"power":5000}}})";
  const std::string page = dom(run, "x=energy");
  // 5 W for what both stages compute: the whole model on the faster device takes least.
  EXPECT_THAT(
      part(page, "id=\"headlines\"", "</section>"),
      AllOf(HasSubstr("Least modelled energy"), HasSubstr("82.50"), HasSubstr("all on pi-1")));
}

TEST_F(ReportPage, LaysTheRunOverThatItIsGiven) {
  const results::RunRecord run = test::synthetic_run({.batches = {1}});
  results::RunRecord other = test::synthetic_run({.batches = {1}, .seed = 8});
  other.id = "20260130-000000-cd34";
  other_ = &other;
  const std::string page = dom(run);
  EXPECT_EQ(attribute(page, "data-other"), static_cast<int>(measured(other, 1, "")));
  EXPECT_THAT(part(page, "id=\"other-note\"", "</span>"),
              HasSubstr("Against 20260130-000000-cd34: lowest latency"));
}

TEST_F(ReportPage, BeginsWithTheLatencyThatTheSweepNamed) {
  results::RunRecord run = test::synthetic_run({.batches = {1}});
  run.options_json = R"({"max_latency_ms":0.5})";
  EXPECT_THAT(part(dom(run), "id=\"headlines\"", "</section>"),
              AllOf(HasSubstr("Highest throughput within 0.5 ms"), HasSubstr("None")));
}

TEST_F(ReportPage, ShowsTheWaysOfReplicas) {
  results::RunRecord run = test::synthetic_run({.transports = {"tcp"}, .batches = {1}});
  const auto whole = std::ranges::find_if(run.trials, [](const results::TrialRecord& trial) {
    return !trial.split && trial.status == results::TrialStatus::kOk;
  });
  ASSERT_NE(whole, run.trials.end());
  results::TrialRecord& trial = *whole;
  trial.plan.replicated = true;
  trial.plan.stages.push_back({"twin", 0, trial.plan.stages[0].end});
  trial.stages.push_back(trial.stages[0]);
  trial.stages.back().device = "twin";
  trial.links.insert(trial.links.end(), {trial.links[0], trial.links[1]});
  const std::string page = dom(run, "plan=" + trial.id);
  const std::string aside = part(page, "id=\"detail\"", "</aside>");
  const std::string first = trial.plan.stages[0].device;
  EXPECT_THAT(aside,
              AllOf(HasSubstr("all on " + first + " and twin in turns"),
                    HasSubstr("Their ways, in turns"), HasSubstr(first + " and twin · tcp")));
  EXPECT_EQ(count(aside, "input arrives over tcp"), 2U);
  EXPECT_EQ(count(aside, "result returns over tcp"), 2U);
  EXPECT_EQ(count(aside, "of weights"), 2U);
  EXPECT_THAT(part(page, "id=\"waterfall-note\"", "</p>"), HasSubstr("no request was kept"));
}

TEST_F(ReportPage, SaysOfASimulationThatNothingWasMeasured) {
  simulation::Scenario scenario;
  scenario.requests = 1000;
  scenario.devices.resize(2);
  scenario.devices[0].name = "camera";
  scenario.devices[0].count = 40;
  scenario.devices[1].name = "edge";
  for (const char* name : {"slow", "quick"}) {
    simulation::PipelineClass& pipeline = scenario.pipelines.emplace_back();
    pipeline.name = name;
    pipeline.window = 2;
    pipeline.stages.resize(2);
    pipeline.stages[0].compute.mean = std::chrono::milliseconds(name[0] == 's' ? 30 : 10);
    pipeline.stages[1].device = 1;
    pipeline.stages[1].compute.mean = std::chrono::milliseconds(4);
  }
  const results::RunRecord run =
      replay::simulated_record("fleet.yaml", scenario, simulation::simulate(scenario).value());
  const std::string page = dom(run);
  EXPECT_THAT(page, HasSubstr("Simulation of fleet.yaml</h1>"));
  EXPECT_THAT(part(page, "id=\"subtitle\"", "</p>"),
              HasSubstr("2 kinds of pipelines, simulated, not measured · on camera, edge"));
  EXPECT_EQ(attribute(page, "data-points"), 2);
  EXPECT_EQ(attribute(page, "data-front"), 0) << "classes ran together: none beats another";
  EXPECT_THAT(part(page, "id=\"chart-note\"", "</p>"), HasSubstr("there is no front"));
  const std::string aside = part(page, "id=\"detail\"", "</aside>");
  EXPECT_THAT(aside, AllOf(HasSubstr("quick"), HasSubstr("camera → edge"), HasSubstr("window 2"),
                           HasSubstr(">Simulated<")));
  const std::string table = part(page, "id=\"trials\"", "</table>");
  EXPECT_EQ(count(table, "<tr class=\"together"), 2U);
  for (const std::string& shown : {aside, table, part(page, "id=\"headlines\"", "</section>"),
                                   part(page, "id=\"filters\"", "</nav>")}) {
    EXPECT_THAT(shown, AllOf(Not(HasSubstr("P(front)")), Not(HasSubstr("On the front")),
                             Not(HasSubstr("over simulated")), Not(HasSubstr("no interval")),
                             Not(HasSubstr("Rounds"))));
  }
  EXPECT_EQ(count(part(page, "id=\"times\"", "</section>"), "class=\"time\""), 2U);
  EXPECT_THAT(part(page, "id=\"devices-table\"", "</table>"), HasSubstr("40 of them, at work"));
  EXPECT_THAT(part(page, "id=\"provenance\"", "</section>"),
              AllOf(HasSubstr("How it was simulated"), HasSubstr("Simulated, not measured"),
                    Not(HasSubstr("How it was measured"))));
  EXPECT_THAT(page, HasSubstr("id=\"accuracy\" aria-labelledby=\"accuracy-title\" hidden"));
  EXPECT_THAT(page, HasSubstr("id=\"waterfall\" aria-labelledby=\"waterfall-title\" hidden"));
}

TEST_F(ReportPage, HoldsWhatWasSimulatedAgainstWhatWasMeasured) {
  const results::RunRecord measured = test::synthetic_run({.transports = {"tcp"}, .batches = {1}});
  std::vector<replay::SimulatedTrial> trials;
  for (const results::TrialRecord& trial : measured.trials) {
    replay::SimulatedTrial& one = trials.emplace_back();
    one.trial = &trial;
    if (trial.latency.samples == 0) one.skipped = "was not measured";
    one.p50_ms = {trial.latency.p50_ms, trial.latency.p50_ms};
    one.samples_per_s = {trial.throughput.samples_per_s, 0.9 * trial.throughput.samples_per_s};
  }
  const std::string page =
      dom(replay::with_simulated_predictions(measured, trials), "error=throughput");
  EXPECT_THAT(page, HasSubstr("Simulated against measured</h2>"));
  EXPECT_THAT(part(page, "id=\"accuracy-note\"", "</p>"),
              AllOf(HasSubstr("plans were simulated, each from its own requests at window 1"),
                    HasSubstr("off by 10 % in throughput")));
  EXPECT_THAT(part(page, "id=\"accuracy-plans\"", "</table>"), HasSubstr("Simulated, samples/s"));
  EXPECT_THAT(part(page, "id=\"subtitle\"", "</p>"), HasSubstr("plans measured"));
}

TEST_F(ReportPage, TheFrontIsOfTheFiguresShown) {
  results::RunRecord run = test::synthetic_adaptive_sweep();
  run.trials[1].prediction->expected_latency_ms = 1e-3;
  run.trials[1].prediction->expected_samples_per_s = 1e9;
  EXPECT_GT(attribute(dom(run), "data-front"), 1) << "what is expected is not shown";
  run.trials[1].latency.p50_ms = 1e-3;
  run.trials[1].throughput.samples_per_s = 1e9;
  EXPECT_EQ(attribute(dom(run), "data-front"), 1) << "whatever its rounds measured";
}

TEST_F(ReportPage, TheAddressKeepsAView) {
  const results::RunRecord run = test::synthetic_run();
  const std::string page = dom(run, "batch=8&without=grpc&plan=after:features.3/tcp/b8&zoom=front");
  EXPECT_EQ(attribute(page, "data-points"), static_cast<int>(measured(run, 8, "tcp")));
  const std::size_t detail = page.find("id=\"detail\"");
  const std::string aside = page.substr(detail, page.find("</aside>") - detail);
  EXPECT_THAT(aside, HasSubstr("after:features.3"));
  EXPECT_THAT(aside, HasSubstr("pi-1 → pi-2"));
  EXPECT_THAT(aside, HasSubstr("computing"));
}

TEST_F(ReportPage, ShowsTheWayThroughEveryStage) {
  const results::RunRecord run = test::synthetic_chain_sweep();
  ASSERT_EQ(run.trials[0].id, "after:features.0+after:avgpool/tcp/b1");
  const std::string page = dom(run, "plan=after:features.0%2Bafter:avgpool/tcp/b1");
  const std::string aside = part(page, "id=\"detail\"", "</aside>");
  EXPECT_THAT(aside, HasSubstr("pi-1 → pi-2 → pi-3"));
  // What crosses each link, and what it is.
  const std::string first = format_bytes(run.trials[0].split->cuts[0].boundary_bytes);
  EXPECT_THAT(aside, HasSubstr("after:features.0 · " + first + " · float32 1×"));
  EXPECT_THAT(aside, HasSubstr("after:avgpool · 1.53 KiB · float32 1×392"));
  EXPECT_THAT(page, HasSubstr(first + " + 1.53 KiB</td>"));
}

TEST_F(ReportPage, NamesAreTextWhateverTheyHold) {
  results::RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 3});
  run.model = "</script><img src=x onerror=alert(1)>";
  run.trials[0].split->name = "<b onclick=alert(1)>bold</b>";
  const std::string page = dom(run);
  const std::string body =
      page.substr(page.find("<body>"), page.find("<script") - page.find("<body>"));
  EXPECT_THAT(body, Not(HasSubstr("<img")));
  EXPECT_THAT(body, Not(HasSubstr("<b onclick")));
  EXPECT_THAT(body, HasSubstr("&lt;img src=x"));
  EXPECT_THAT(body, HasSubstr("&lt;b onclick"));
}

TEST_F(ReportPage, AnUnfinishedOrEmptyRunIsShownAsSuch) {
  results::RunRecord run =
      test::synthetic_run({.batches = {1}, .split_points = 2, .with_failure = false});
  run.finished.clear();
  for (results::TrialRecord& trial : run.trials) trial.latency = {};
  EXPECT_THAT(dom(run), HasSubstr("not measured"));
  run.trials.clear();
  run.devices.clear();
  EXPECT_THAT(dom(run), HasSubstr("unfinished"));
}

}  // namespace
}  // namespace pareto::report
