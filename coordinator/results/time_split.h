// The division of a latency into computing, transfer and the rest.
#pragma once

#include "coordinator/results/record.h"

namespace pareto::results {

/// Returns where `whole_ms` went. The parts stay as they were measured, each a median of its own.
/// They may add up to more than the median of the whole; the rest is negative then.
inline TimeSplit split_time(double whole_ms, double compute_ms, double transfer_ms) {
  return {compute_ms, transfer_ms, whole_ms - compute_ms - transfer_ms};
}

/// Returns whether the parts leave a rest. Less than is ever printed is rounding, and no deficit.
inline bool has_rest(const TimeSplit& split) { return split.wait_ms > -0.0005; }

}  // namespace pareto::results
