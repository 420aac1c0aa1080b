// Schedule of the adaptive sweep. Predicted trials race for the front
// (coordinator/statistics/front_race.h) until each one's place is decided, or the budget of
// measuring time is spent.
#pragma once

#include <memory>
#include <vector>

#include "coordinator/results/record.h"
#include "coordinator/statistics/front_race.h"
#include "coordinator/sweep/sweep.h"
#include "coordinator/sweep/sweep_schedule.h"

namespace pareto::sweep {

/// Returns a schedule that decides on each pass after the one before. It keeps the expected figures
/// in TrialRecord::prediction up to date, and sets p_front of all trials. Rounds of an earlier part
/// of the run count, and so does their time.
std::unique_ptr<SweepSchedule> make_race_schedule(const results::RunRecord& run,
                                                  const SweepOptions& options);

/// Returns the trials of a run as plans of a race, without their rounds.
std::vector<statistics::RacePlan> race_plans(const std::vector<results::TrialRecord>& trials);

/// Returns a round in the form that a race takes. No value means that it has no latencies or no
/// completions.
std::optional<statistics::RaceRound> race_round(const results::TrialRound& round,
                                                std::int64_t batch);

/// Returns a time in words, for a budget: "80 s", "5 min", "1.5 h".
std::string time_words(double seconds);

}  // namespace pareto::sweep
