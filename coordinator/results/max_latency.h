// The latency that the plans of a run should stay within.
#pragma once

#include <optional>

#include "coordinator/results/record.h"

namespace pareto::results {

/// Returns what `sweep --max-latency` named, in ms; no value if it named nothing.
std::optional<double> max_latency_ms(const RunRecord& run);

}  // namespace pareto::results
