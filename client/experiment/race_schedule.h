// The adaptive sweep: predicted trials race for the front (client/experiment/front_race.h) until each one's place is decided, or the budget
// of measuring time is spent.
#pragma once

#include <memory>
#include <vector>

#include "client/experiment/front_race.h"
#include "client/experiment/sweep.h"
#include "client/experiment/sweep_schedule.h"
#include "client/results/record.h"

namespace pareto::client {

/// Each pass makes the next one. Keeps TrialRecord::prediction's expected figures up to date, and gives p_front of all trials as the race
/// knows it. Rounds of an earlier part of the run count, and so does the time that they took.
std::unique_ptr<SweepSchedule> make_race_schedule(const RunRecord& run,
                                                  const SweepOptions& options);

/// The trials of a run as the race sees them; rounds are left to the caller.
std::vector<RacePlan> race_plans(const std::vector<TrialRecord>& trials);

/// A round as the race sees it. None: it has no latencies or no completions.
std::optional<RaceRound> race_round(const TrialRound& round, std::int64_t batch);

/// "90 s", "5 min": of a budget.
std::string time_words(double seconds);

}  // namespace pareto::client
