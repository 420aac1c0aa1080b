// The order in which a timetable's turns can run: what its checks and its predictions share.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/schedules/timetable.h"

namespace pareto::schedules {

/// Parts [first, last) of a unit.
struct Parts {
  std::size_t first = 0;
  std::size_t last = 1;
};
/// Returns all parts that a unit has a turn for.
inline Parts parts_of(const Timetable& timetable, std::size_t unit) {
  return {0, timetable.units[unit].whole ? 1 : timetable.parts};
}
/// Returns the parts of a unit that a turn waits for, if it needs that unit.
inline Parts needed_parts(const Timetable& timetable, const Turn& turn, std::size_t unit) {
  if (timetable.units[unit].whole || timetable.units[turn.unit].whole) {
    return parts_of(timetable, unit);
  }
  return {turn.part, turn.part + 1};
}

/// A turn, and where it stands in its timetable.
struct Step {
  std::size_t phase = 0;
  std::size_t worker = 0;
  Turn turn{};
};

struct TimetableRun {
  std::vector<Step> steps{};    ///< turns that can run, each after those that it waits for
  std::vector<Step> waiting{};  ///< first turns of workers that wait for ever; empty if all can run
};

/// Runs phase after phase, until one cannot end. All numbers must exist; `dependencies`: those of
/// unit_dependencies().
TimetableRun run_order(const Timetable& timetable,
                       const std::vector<std::vector<std::size_t>>& dependencies);

/// When a turn begins and ends.
struct TimedStep {
  Step step{};
  double start = 0;
  double end = 0;
};

/// Predicts when each turn of a checked timetable runs. See makespan().
std::vector<TimedStep> predict(const Timetable& timetable, const WeightedGraph& graph,
                               double hand_off);

}  // namespace pareto::schedules
