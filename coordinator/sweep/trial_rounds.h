// The list of a trial's rounds, which stays in ascending order.
#pragma once

#include "coordinator/results/record.h"

namespace pareto::sweep {

/// Adds a round to a trial, or puts it in place of the round of that number.
void put_round(results::TrialRecord& trial, results::TrialRound measured);

/// Gives the trial's round `from`, if it has one, the number `to`.
void renumber_round(results::TrialRecord& trial, int from, int to);

}  // namespace pareto::sweep
