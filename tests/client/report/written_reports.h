// Runs of every kind, and what the writers of reports make of them.
#pragma once

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "client/report/report_writer.h"
#include "tests/support/json_schema.h"
#include "tests/support/synthetic_run.h"

namespace pareto::report {

inline std::string written(std::string_view format, const results::RunRecord& run,
                           const ReportStyle& style = {}) {
  const auto writer = make_writer(format);
  EXPECT_TRUE(writer) << format;
  const auto text = (*writer)->write(test::with_objectives(run), style);
  EXPECT_TRUE(text) << text.error().message;
  return text.value_or("");
}

inline const nlohmann::json& sweep_schema() { return test::golden_schema("sweep"); }

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Runs as they may be found: whole, not yet measured, empty, and with names that no format may
/// stumble over.
inline std::vector<results::RunRecord> all_kinds_of_runs() {
  results::RunRecord planned = test::synthetic_run({.batches = {1}, .split_points = 2});
  planned.finished.clear();
  for (results::TrialRecord& trial : planned.trials) {
    trial.latency = {};
    trial.on_front = false;
    trial.status = results::TrialStatus::kOk;
  }
  results::RunRecord empty = planned;
  empty.trials.clear();
  empty.devices.clear();
  results::RunRecord odd = test::synthetic_run({.batches = {1}, .split_points = 2});
  odd.model = "</script><b>\"a\", 'b'\n\xff.pt";
  odd.trials[0].split->name = "{{js}}, \"quoted\" </script>";
  return {test::synthetic_run(),
          planned,
          empty,
          odd,
          test::synthetic_network_sweep(),
          test::synthetic_skipped_sweep(),
          test::synthetic_chain_sweep(),
          test::synthetic_adaptive_sweep()};
}

}  // namespace pareto::report
