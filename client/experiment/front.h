// Which trials no other beats, and how sure that is.
#pragma once

#include <cstdint>
#include <vector>

#include "client/results/record.h"

namespace pareto::client {

/// Sets on_front (on the figures as they are printed) and p_front of every measured trial, among those of its batch and
/// condition, all transports together; failed and unmeasured trials are on no front.
void mark_front(std::vector<TrialRecord>& trials, std::uint64_t seed);

/// Whether a trial has its figures.
bool is_measured(const TrialRecord& trial);

}  // namespace pareto::client
