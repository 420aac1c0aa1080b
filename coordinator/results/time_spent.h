// Use of a whole run's time, with the part in which nothing was measured.
#pragma once

#include "coordinator/results/record.h"

namespace pareto::results {

/// Returns the time spent in all passes together.
TimeSpent time_spent(const RunRecord& run);

/// Returns the share in which no request was on its way: loading, opening, changing the network,
/// computing, storing. 0 if nothing was kept.
double dead_share(const TimeSpent& spent);

}  // namespace pareto::results
