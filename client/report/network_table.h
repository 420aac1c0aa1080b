// The part of the terminal's table that shows how the best split moves with the network.
#pragma once

#include <string>

#include "client/report/report_writer.h"
#include "coordinator/results/record.h"

namespace pareto::report {

/// Writes a block for each batch, with a row for each condition: the measured network, and the best
/// split by latency and by throughput, next to the best plan with one device. Empty for a run of
/// one condition.
std::string write_network_table(const results::RunRecord& run, const ReportStyle& style);

}  // namespace pareto::report
