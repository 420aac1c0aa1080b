// The turns of a timetable, with what each waits for.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/schedules/timetable.h"
#include "runtime/schedules/weighted_graph.h"

namespace pareto::runtime {

/// One turn, with what it waits for.
struct PlannedTurn {
  schedules::Turn turn;
  std::size_t number = 0;            ///< its number among all turns of the timetable
  std::vector<std::size_t> awaited;  ///< numbers of turns that other workers of its phase take
};

/// The turns of each worker in a phase.
using PlannedPhase = std::vector<std::vector<PlannedTurn>>;

/// Returns the phases of a timetable. Turns have numbers from 0 on.
std::vector<PlannedPhase> plan_turns(const schedules::Timetable& timetable,
                                     const schedules::WeightedGraph& graph);

}  // namespace pareto::runtime
