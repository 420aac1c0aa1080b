// Writes what changed between two runs (coordinator/statistics/run_diff.h), for people and for
// programs.
#pragma once

#include <string>

#include "client/report/report_writer.h"
#include "coordinator/statistics/run_diff.h"

namespace pareto::report {

/// The two sides that were compared: two runs, or two plans of one (then both are the same run).
struct DiffSides {
  const results::RunRecord& a;
  const results::RunRecord& b;
};

/// Returns "36 plans: 1 regressed by more than 2 %, 30 can't tell, 5 the same; 2 only in A".
std::string summary_of(const statistics::RunDiff& diff);

/// Writes the two sides A and B and their other differences. Then come a row for each plan in the
/// order of the diff, the plans of one side, and the summary.
std::string write_diff_table(const DiffSides& sides, const statistics::RunDiff& diff,
                             const ReportStyle& style);

/// Writes one document; its schema: tests/golden/diff.schema.json.
std::string write_diff_json(const DiffSides& sides, const statistics::RunDiff& diff);

}  // namespace pareto::report
