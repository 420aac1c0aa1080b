// The latency that the plans of a run should stay within.
#pragma once

#include <optional>

#include "client/results/record.h"

namespace pareto::client {

/// Returns what `sweep --max-latency` named, in ms; none: it named nothing.
std::optional<double> max_latency_ms(const RunRecord& run);

}  // namespace pareto::client
