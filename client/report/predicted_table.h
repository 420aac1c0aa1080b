// The part of the terminal's table that shows what was predicted: plans that were not measured, and
// how far predictions were off.
#pragma once

#include <string>

#include "client/report/report_writer.h"
#include "coordinator/results/record.h"

namespace pareto::report {

/// Returns a table of the plans that were not measured, but may be on the front, the likeliest
/// first. Plans whose predictions are no guide are only counted. Empty if all were measured.
std::string write_predicted(const results::RunRecord& run, const ReportStyle& style);

/// Returns a table of the errors of predictions, a row for each batch and network, and says where
/// predictions are no guide. Empty for a run without predictions.
std::string write_prediction_errors(const results::RunRecord& run, const ReportStyle& style);

}  // namespace pareto::report
