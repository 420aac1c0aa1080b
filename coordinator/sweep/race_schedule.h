// The adaptive sweep: predicted trials race for the front (coordinator/statistics/front_race.h) until each one's place is decided, or the budget
// of measuring time is spent.
#pragma once

#include <memory>
#include <vector>

#include "coordinator/results/record.h"
#include "coordinator/statistics/front_race.h"
#include "coordinator/sweep/sweep.h"
#include "coordinator/sweep/sweep_schedule.h"

namespace pareto::sweep {

/// Each pass makes the next one. Keeps TrialRecord::prediction's expected figures up to date, and gives p_front of all trials as the race
/// knows it. Rounds of an earlier part of the run count, and so does the time that they took.
std::unique_ptr<SweepSchedule> make_race_schedule(const results::RunRecord& run,
                                                  const SweepOptions& options);

/// The trials of a run as the race sees them; rounds are left to the caller.
std::vector<statistics::RacePlan> race_plans(const std::vector<results::TrialRecord>& trials);

/// A round as the race sees it. None: it has no latencies or no completions.
std::optional<statistics::RaceRound> race_round(const results::TrialRound& round,
                                                std::int64_t batch);

/// "90 s", "5 min": of a budget.
std::string time_words(double seconds);

}  // namespace pareto::sweep
