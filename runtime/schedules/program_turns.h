// Decides which worker runs which turn of a user's program, and when. Free of LibTorch.
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/error.h"
#include "runtime/schedules/program.h"
#include "runtime/schedules/program_units.h"
#include "runtime/schedules/timetable.h"
#include "runtime/schedules/weighted_graph.h"

namespace pareto::schedules {

/// Workers of a program, and what each of them may run.
struct Staff {
  /// Says by worker and unit how welcome a unit is: 0 is best, and kRefused means that the worker
  /// never runs it.
  std::vector<std::vector<std::size_t>> welcome{};
};
constexpr std::size_t kRefused = static_cast<std::size_t>(-1);

/// Returns the program's workers, or `workers` that take everything if it names none. Fails:
/// kInvalidArgument (a unit that no worker takes).
Expected<Staff> staff_of(const Program& program, const MarkedUnits& marked, std::size_t workers);

/// Gives each worker its turns of a timetable that has units and parts. Whenever a worker is free,
/// it takes, of the turns that are ready and that it may run, first the most welcome, then the
/// first in the program's order, then the earlier one in the model.
std::vector<std::vector<Turn>> take_turns(const Program& program, const Timetable& timetable,
                                          const Staff& staff, const WeightedGraph& graph,
                                          double hand_off);

}  // namespace pareto::schedules
