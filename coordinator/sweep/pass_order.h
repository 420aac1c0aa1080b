// The order in which a pass goes through its trials.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coordinator/results/record.h"
#include "coordinator/sweep/sweep_schedule.h"

namespace pareto::sweep {

/// Returns the places of a pass's trials in a random order that `seed` repeats. Trials of one
/// condition follow each other, so that the network changes as seldom as it can. If `in_turns`,
/// only a few of them do before another condition's turn comes: a budget that ends the pass early
/// then leaves no condition out.
std::vector<std::size_t> order_of(const Pass& pass, const std::vector<results::TrialRecord>& trials,
                                  std::uint64_t seed, bool in_turns);

/// The trials of one condition in a turn. A change of the network takes a fifth of a trial.
inline constexpr std::size_t kTrialsInTurn = 8;

}  // namespace pareto::sweep
