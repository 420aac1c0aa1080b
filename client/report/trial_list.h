// The trials of a run before anything is measured: what `sweep --dry-run` prints.
#pragma once

#include <string>

#include "client/report/report_writer.h"
#include "coordinator/results/record.h"

namespace pareto::report {

/// Returns a row a trial, in the run's order, with what is predicted of any of them. Below it says
/// why those that no device has room for would fail.
std::string trial_list(const results::RunRecord& run, const ReportStyle& style);

}  // namespace pareto::report
