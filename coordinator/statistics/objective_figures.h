// Figures of every objective for the trials of a run, and the front by chosen objectives.
#pragma once

#include <string>
#include <vector>

#include "coordinator/results/record.h"
#include "coordinator/statistics/front.h"
#include "core/base/error.h"
#include "partitioner/planning/objective/objective.h"

namespace pareto::statistics {

/// Returns what the inventory said of each device when the run began, by the device's name.
FiguresByDevice device_figures(const results::RunRecord& run);

/// Sets RunRecord::objectives, and those of each measured trial. If the run's sweep named
/// --objectives, chooses them.
void fill_objectives(results::RunRecord& run);

/// Returns the objectives that a front can be of. Fails: kInvalidArgument with the names there are
/// (fewer than two, no objective, or one that stands twice).
Expected<std::vector<const planning::Objective*>> objectives_of_front(
    const std::vector<std::string>& names);

/// Makes the front, on_front of all trials, by these objectives in place of latency and throughput.
/// Nobody knows how sure such a front is: p_front is left unsettled. Fails: like
/// objectives_of_front(); kInvalidArgument (an objective that no trial has a figure of).
Expected<> choose_objectives(results::RunRecord& run, const std::vector<std::string>& names);

}  // namespace pareto::statistics
