#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "coordinator/results/simulated.h"
#include "core/base/text.h"
#include "tests/client/report/written_reports.h"
#include "tests/support/synthetic_run.h"

namespace pareto::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(AdaptiveRun, CsvHasWhatIsExpected) {
  const std::string csv = written("csv", test::synthetic_adaptive_sweep());
  EXPECT_THAT(csv, HasSubstr("predicted_latency_ms,predicted_samples_per_s,predicted_window,"
                             "expected_latency_ms"));
  EXPECT_THAT(csv, HasSubstr(",0.4,predicted,"));
  EXPECT_THAT(csv, HasSubstr(",latency_p90_ms,latency_p95_ms,latency_p99_ms,"));
}

TEST(Csv, SaysWhatWasSimulated) {
  results::RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 1});
  EXPECT_THAT(written("csv", run), HasSubstr(",failure,simulated\r\n"));
  EXPECT_THAT(written("csv", run), Not(HasSubstr(",figures\r\n")));
  results::mark_simulated(run, results::Simulated::kFigures);
  EXPECT_THAT(written("csv", run), HasSubstr(",figures\r\n"));
  results::mark_simulated(run, results::Simulated::kPredictions);
  EXPECT_THAT(written("csv", run), HasSubstr(",predictions\r\n"));
}

TEST(Csv, TellsInfinitelyWrongFromNotKnown) {
  results::RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 1});
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  ASSERT_GE(run.trials.size(), 2U);
  run.trials[0].output_error = results::OutputError{kInfinite, kInfinite, 0.25};
  const std::string csv = written("csv", run);
  EXPECT_THAT(csv, HasSubstr(",inf,inf,"));
}

TEST(CsvWriter, SaysWhatTheNetworkWasMeasuredToBeLike) {
  const results::RunRecord run = test::synthetic_network_sweep();
  const std::vector<std::string> lines = lines_of(written("csv", run));
  EXPECT_THAT(lines[0], HasSubstr(",condition,network_round_trip_ms,network_forward_mbit_per_s,"
                                  "network_backward_mbit_per_s,"));
  EXPECT_EQ(run.trials[0].condition, "20-far");
  EXPECT_THAT(lines[1], HasSubstr(",20-far,60.2,19.9,19.9,"));
  EXPECT_THAT(written("csv", test::synthetic_run()), HasSubstr(",none,,,,"));
}

TEST(CsvWriter, HasOneLineATrialWithOneCellAColumn) {
  for (const results::RunRecord& run : all_kinds_of_runs()) {
    const std::string text = written("csv", run);
    // Split as RFC 4180 says: separators inside quotes are text.
    std::vector<std::vector<std::string>> rows{{""}};
    bool inside = false;
    for (const char c : text) {
      if (c == '"') {
        inside = !inside;
      } else if (inside || (c != ',' && c != '\r' && c != '\n')) {
        rows.back().back() += c;
      } else if (c == ',') {
        rows.back().emplace_back();
      } else if (c == '\n') {
        rows.push_back({""});
      }
    }
    EXPECT_FALSE(inside);
    rows.pop_back();
    ASSERT_EQ(rows.size(), run.trials.size() + 1);
    for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size()) << join(row);
    const auto column = [&](const std::string& name) {
      return std::ranges::find(rows[0], name) - rows[0].begin();
    };
    for (std::size_t i = 0; i < run.trials.size(); ++i) {
      const results::TrialRecord& trial = run.trials[i];
      const auto& row = rows[i + 1];
      EXPECT_EQ(row[column("id")], trial.id);
      const std::vector<results::CutRecord> cuts =
          trial.split ? trial.split->cuts : std::vector<results::CutRecord>{};
      std::vector<std::string> positions;
      for (const results::CutRecord& cut : cuts)
        positions.push_back(fmt::format("{}", cut.position));
      EXPECT_EQ(row[column("cut_positions")], join(positions, "+"));
      EXPECT_EQ(row[column("latency_p50_ms")],
                trial.latency.samples > 0 ? fmt::format("{}", trial.latency.p50_ms) : "");
    }
  }
}

}  // namespace
}  // namespace pareto::report
