// Which trials no other beats, and how sure that is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "client/results/record.h"
#include "partitioner/objective/objective.h"

namespace pareto::client {

/// What was measured of a trial; its memory is that of the device that needs most.
partitioner::Measurement measurement_of(const TrialRecord& trial);

/// Sets on_front (on the figures as they are printed) and p_front of every measured trial, among those of its batch and
/// condition, all transports together; failed and unmeasured trials are on no front.
void mark_front(std::vector<TrialRecord>& trials, std::uint64_t seed);

/// Sets on_front alone, of measured trials, on other figures than the printed ones: what they are believed to take. One for each trial.
void mark_on_front(std::vector<TrialRecord>& trials,
                   std::span<const partitioner::Measurement> believed);

/// Whether a trial has its figures.
bool is_measured(const TrialRecord& trial);

}  // namespace pareto::client
