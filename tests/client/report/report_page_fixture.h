// A report's page in a real browser, for tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <regex>
#include <string>

#include "client/report/page.h"
#include "coordinator/results/record.h"
#include "core/base/file.h"
#include "tests/support/process.h"
#include "tests/support/synthetic_run.h"

namespace pareto::report {

class ReportPage : public testing::Test {
 protected:
  ReportPage() : folder_(TemporaryFolder::create("report").value()) {}

  /// Returns the page's elements once its scripts have run. `view`: what stands behind '#'; `hand`:
  /// a script that does what a reader might.
  std::string dom(const results::RunRecord& run, const std::string& view = "",
                  const std::string& hand = "") {
    const auto page = folder_.path() / "report.html";
    std::ofstream(page, std::ios::binary) << report_page(test::with_objectives(run), other_).value()
                                          << "<script>" << hand << "</script>";
    const auto done = test::run(
        {"/usr/bin/chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
         "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--disable-dev-shm-usage", "--enable-logging=stderr", "--v=0",
         "--user-data-dir=" + (folder_.path() / "profile").string(), "--window-size=1300,1700",
         "--virtual-time-budget=2000", "--dump-dom", "file://" + page.string() + "#" + view},
        {"HOME=" + folder_.path().string()});
    EXPECT_EQ(done.exit_code, 0) << "chromium is needed: " << done.errors;
    EXPECT_THAT(done.errors, testing::Not(testing::HasSubstr(":CONSOLE")))
        << "nothing may be said on the console";
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
  /// Returns what stands from `begin` to the next `end`.
  static std::string part(const std::string& dom, const std::string& begin,
                          const std::string& end) {
    const std::size_t at = dom.find(begin);
    EXPECT_NE(at, std::string::npos) << begin;
    return at == std::string::npos ? "" : dom.substr(at, dom.find(end, at) - at);
  }
  static std::size_t measured(const results::RunRecord& run, std::int64_t batch,
                              const std::string& transport) {
    return static_cast<std::size_t>(
        std::ranges::count_if(run.trials, [&](const results::TrialRecord& trial) {
          return trial.status == results::TrialStatus::kOk && trial.batch == batch &&
                 (transport.empty() || trial.transport == transport);
        }));
  }

  TemporaryFolder folder_;
  const results::RunRecord* other_ = nullptr;  ///< run that is laid over
};

}  // namespace pareto::report
