// The page as a reader has it: in Chromium, by mouse, finger and keyboard. What is done and
// expected stands in the scripts next to this file; here are the runs, each kept in a store and
// read back before its page is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "client/report/graph/picture_writer.h"
#include "client/report/report_writer.h"
#include "coordinator/results/prediction_guide.h"
#include "coordinator/results/store.h"
#include "core/base/file.h"
#include "tests/client/report/graph/toy_model.h"
#include "tests/support/process.h"
#include "tests/support/synthetic_run.h"

namespace pareto::report {
namespace {

class ReportInBrowser : public testing::Test {
 protected:
  ReportInBrowser() : folder_(TemporaryFolder::create("report-browser").value()) {}

  /// Returns the run's page once it has been through a store.
  std::string page_of(const results::RunRecord& run) const {
    const auto store = results::ResultStore::open(folder_.path() / "results.db").value();
    EXPECT_TRUE(store->begin_run(run));
    EXPECT_TRUE(store->put_trials(run.id, run.trials));
    EXPECT_TRUE(store->update_run(run));
    return (*make_writer("html"))
        ->write(test::with_objectives(store->load_run("last").value()), {})
        .value();
  }
  void check(const std::vector<std::string>& scripts, const std::string& page) const {
    const auto file = folder_.path() / "report.html";
    ASSERT_TRUE(write_file_atomically(file, page));
    std::vector<std::string> command{PARETO_NODE, PARETO_BROWSER_SCRIPTS "/harness.js"};
    command.insert(command.end(), scripts.begin(), scripts.end());
    command.push_back(file);
    const auto done =
        test::run(command, {"NODE_PATH=" PARETO_NODE_MODULES, "HOME=" + folder_.path().string()},
                  std::chrono::seconds(400));
    EXPECT_EQ(done.exit_code, 0) << done.errors << done.output;
  }

  TemporaryFolder folder_;
};

// A browser takes seconds to start, so that checks of one page share it.
TEST_F(ReportInBrowser, OfNetworksIsRead) {
  check({"points", "filters", "waterfall", "intervals", "rest"},
        page_of(test::synthetic_network_sweep()));
}

TEST_F(ReportInBrowser, OfNetworksIsShownInEveryForm) {
  check({"themes", "phone", "printing", "legend", "roomy"},
        page_of(test::synthetic_network_sweep()));
}

TEST_F(ReportInBrowser, OfNetworksIsUsed) {
  check({"keyboard", "accessible", "axes", "target", "take_along", "other", "moves", "scrolling"},
        page_of(test::synthetic_network_sweep()));
}

TEST_F(ReportInBrowser, ComparesPredictionsWithMeasurements) {
  check({"accuracy"}, page_of(test::synthetic_adaptive_sweep()));
}

TEST_F(ReportInBrowser, ShowsAndCountsWhatWasPredictedOnly) {
  check({"predicted"}, page_of(test::synthetic_adaptive_sweep()));
}

TEST_F(ReportInBrowser, DrawsAlikeWhatIsSaidAlike) {
  results::RunRecord run = test::synthetic_run({.batches = {1}});
  int beaten = 0;
  for (results::TrialRecord& trial : run.trials) {
    if (!trial.on_front) trial.p_front = std::array{0.05, 0.07, 0.3}.at(beaten++ % 3);
  }
  ASSERT_GT(beaten, 6);
  check({"few_rounds"}, page_of(run));
}

TEST_F(ReportInBrowser, SaysWherePredictionsAreNoGuide) {
  results::RunRecord run = test::synthetic_adaptive_sweep();
  for (results::TrialRecord& trial : run.trials) {
    trial.prediction->samples_per_s = 1e4 / trial.prediction->samples_per_s;
  }
  results::unsettle_unguided(run.trials);
  check({"misled"}, page_of(run));
}

TEST_F(ReportInBrowser, DrawsIntervalsUpToTheEdgeOfTheChart) {
  results::RunRecord run = test::synthetic_run({.batches = {1}});
  const auto one = std::ranges::find(run.trials, true, &results::TrialRecord::on_front);
  ASSERT_NE(one, run.trials.end());
  const double rate = one->throughput.samples_per_s;
  one->throughput.ci95 = {rate / 20, rate * 20};
  check({"long_intervals"}, page_of(run));
}

TEST_F(ReportInBrowser, CardsTableAndFrontShowTheSameFigures) {
  check({"cards"}, page_of(test::synthetic_adaptive_sweep()));
}

TEST_F(ReportInBrowser, TellsOfTheWholeRun) {
  results::RunRecord run = test::synthetic_skipped_sweep();
  run.passes[0].others = {{results::kThisMachine, 2, 0.61, 5.8, 24}};
  run.passes[1].company = {{"pi-2", 1, 2}};
  check({"about"}, page_of(run));
}

TEST_F(ReportInBrowser, HoldsAThousandPlansInThreeMegabytes) {
  const results::RunRecord run = test::synthetic_large_sweep();
  EXPECT_EQ(run.trials.size(), 4 * (225U + 2));
  const std::string page = page_of(run);
  EXPECT_LE(page.size(), 3'000'000U);
  check({"large"}, page);
}

TEST_F(ReportInBrowser, PicturesOfModelsAreMovedSearchedAndCut) {
  const graph::GraphPicture picture =
      graph::picture_of(test::two_branches(), {.view = graph::PictureView::kOperators}).value();
  const auto layout = graph::lay_out(picture, graph::Heat::kNone, {});
  ASSERT_TRUE(layout) << layout.error().message;
  graph::CandidateTable table;
  table.cells.columns = {{"cut"}, {"crosses", Align::kRight}};
  for (const auto& [name, before] :
       {std::pair<const char*, plan::OperatorRanges>{"after:stem", {{0, 2}}},
        {"after:right", {{0, 2}, {3, 5}}}}) {
    table.cells.rows.push_back({.cells = {name, "1.00 KiB"}});
    table.candidates.push_back({{name, before}, {"Bx4x8x8"}});
  }
  check({"picture"}, graph::picture_page(picture, *layout, graph::Heat::kNone, table).value());
}

}  // namespace
}  // namespace pareto::report
