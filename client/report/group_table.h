// The part of the terminal's table that shows the plans of one batch under one network.
#pragma once

#include <string>
#include <vector>

#include "client/report/report_writer.h"
#include "coordinator/results/record.h"

namespace pareto::report {

using Trials = std::vector<const results::TrialRecord*>;

/// Returns the table of all trials in the order of the run, with those on the front marked; then
/// that of the front in the order of its first objective. `name` is what group_name() returns.
std::string write_group(const std::string& name, const Trials& trials,
                        const results::RunRecord& run, const ReportStyle& style);

/// Returns a line on the most productive plan of the run that is quick enough for
/// `sweep --max-latency`.
std::string write_within(const std::string& name, const Trials& trials,
                         const results::RunRecord& run, double most_ms);

}  // namespace pareto::report
