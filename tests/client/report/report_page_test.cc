// The page in a real browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "client/report/report_writer.h"
#include "core/base/file.h"
#include "tests/support/process.h"
#include "tests/support/synthetic_run.h"

namespace pareto::client {
namespace {

using testing::HasSubstr;
using testing::Not;

class ReportPage : public testing::Test {
 protected:
  ReportPage() : folder_(TemporaryFolder::create("report").value()) {}

  /// The page's elements once its scripts have run. `view`: what stands behind '#'.
  std::string dom(const RunRecord& run, const std::string& view = "") {
    const auto page = folder_.path() / "report.html";
    std::ofstream(page, std::ios::binary) << (*make_writer("html"))->write(run, {}).value();
    const auto done = test::run(
        {"/usr/bin/chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
         "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--disable-dev-shm-usage", "--enable-logging=stderr", "--v=0",
         "--user-data-dir=" + (folder_.path() / "profile").string(), "--window-size=1300,1700",
         "--virtual-time-budget=2000", "--dump-dom", "file://" + page.string() + "#" + view},
        {"HOME=" + folder_.path().string()});
    EXPECT_EQ(done.exit_code, 0) << "chromium is needed: " << done.errors;
    EXPECT_THAT(done.errors, Not(HasSubstr(":CONSOLE"))) << "nothing may be said on the console";
    return done.output;
  }

  static int attribute(const std::string& dom, const std::string& name) {
    std::smatch match;
    const std::regex pattern(name + "=\"([0-9]+)\"");
    return std::regex_search(dom, match, pattern) ? std::stoi(match[1]) : -1;
  }
  static std::size_t count(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++found;
    return found;
  }
  static std::size_t measured(const RunRecord& run, std::int64_t batch,
                              const std::string& transport) {
    return static_cast<std::size_t>(
        std::ranges::count_if(run.trials, [&](const TrialRecord& trial) {
          return trial.status == TrialStatus::kOk && trial.batch == batch &&
                 (transport.empty() || trial.transport == transport);
        }));
  }

  TemporaryFolder folder_;
};

TEST_F(ReportPage, DrawsEveryPlanOfTheFirstBatch) {
  const RunRecord run = test::synthetic_run();
  const std::string page = dom(run);
  EXPECT_EQ(attribute(page, "data-points"), static_cast<int>(measured(run, 1, "")));
  const auto front = std::ranges::count_if(
      run.trials, [](const TrialRecord& trial) { return trial.batch == 1 && trial.on_front; });
  EXPECT_EQ(attribute(page, "data-front"), front) << "the page's front is the run's";
  // Each point is a path of the drawing, beside axes and error bars.
  const std::size_t chart = page.find("id=\"chart\"");
  EXPECT_GE(count(page.substr(chart, page.find("id=\"legend\"") - chart), "<path"),
            measured(run, 1, ""));
  EXPECT_EQ(count(page, "<tr class=\"front"), static_cast<std::size_t>(front));
  EXPECT_THAT(page, HasSubstr("mobilenetv2</h1>"));
  EXPECT_THAT(page, HasSubstr("1.2 GiB is more than its limit of 1 GiB"));
  EXPECT_THAT(page, HasSubstr("Cortex-A76"));
}

TEST_F(ReportPage, TheAddressKeepsAView) {
  const RunRecord run = test::synthetic_run();
  const std::string page = dom(run, "batch=8&without=grpc&plan=after:features.3/tcp/b8&zoom=front");
  EXPECT_EQ(attribute(page, "data-points"), static_cast<int>(measured(run, 8, "tcp")));
  const std::size_t detail = page.find("id=\"detail\"");
  const std::string aside = page.substr(detail, page.find("</aside>") - detail);
  EXPECT_THAT(aside, HasSubstr("after:features.3"));
  EXPECT_THAT(aside, HasSubstr("pi-1 → pi-2"));
  EXPECT_THAT(aside, HasSubstr("computing"));
}

TEST_F(ReportPage, NamesAreTextWhateverTheyHold) {
  RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 3});
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
  RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 2, .with_failure = false});
  run.finished.clear();
  for (TrialRecord& trial : run.trials) trial.latency = {};
  EXPECT_THAT(dom(run), HasSubstr("not measured"));
  run.trials.clear();
  run.devices.clear();
  EXPECT_THAT(dom(run), HasSubstr("unfinished"));
}

}  // namespace
}  // namespace pareto::client
