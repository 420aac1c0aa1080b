#include <algorithm>

#include "core/base/text.h"
#include "runtime/schedules/assignment.h"
#include "runtime/schedules/program.h"
#include "runtime/schedules/program_turns.h"
#include "runtime/schedules/program_units.h"

namespace pareto::schedules {
namespace {

/// Returns how many parts a batch is split into: none smaller than the program allows.
std::size_t count_parts(const SplitRule& split, const ScheduleRequest& request) {
  if (!request.may_split) return 1;
  const std::int64_t fitting = request.batch / split.at_least;
  return static_cast<std::size_t>(std::clamp<std::int64_t>(fitting, 1, split.parts));
}

void leave_whole(const SplitRule& split, Timetable& timetable) {
  if (timetable.parts == 1 || split.only.empty()) return;
  for (Unit& unit : timetable.units) {
    unit.whole = std::ranges::find_first_of(unit.tags, split.only) == unit.tags.end();
  }
}

/// Returns the phase of workers' turns, without idle workers at its end. A worker that has all of
/// them to itself has all threads.
Phase phase_of(std::vector<std::vector<Turn>> workers) {
  const auto busy = [](const std::vector<Turn>& turns) { return !turns.empty(); };
  if (std::ranges::count_if(workers, busy) > 1) {
    while (workers.back().empty()) workers.pop_back();
    return {.workers = std::move(workers)};
  }
  const auto only = std::ranges::find_if(workers, busy);
  Phase phase{.workers = {{}}, .all_threads = true};
  if (only != workers.end()) phase.workers[0] = std::move(*only);
  return phase;
}

Expected<> check_memory(const Program& program, const Timetable& timetable,
                        const WeightedGraph& graph) {
  if (program.most_memory == 0) return {};
  const std::uint64_t needed = peak_bytes(timetable, graph);
  if (needed <= program.most_memory) return {};
  return fail(
      ErrorCode::kInvalidArgument,
      "most_memory allows {} of values at a time, and this order needs {} ({} bytes): raise "
      "it, take earlier parts first, or use fewer workers",
      format_bytes(program.most_memory), format_bytes(needed), needed);
}

/// Returns the timetable that is used when a program's split is not made: the faster of its units
/// on its workers, and all operators in their order.
Expected<Timetable> unsplit(Timetable timetable, const ScheduleRequest& request) {
  PARETO_ASSIGN(Timetable plain, make_sequential(request));
  const double own = makespan(timetable, request.graph, request.hand_off);
  if (own < makespan(plain, request.graph, request.hand_off)) return timetable;
  return plain;
}

}  // namespace

Expected<Timetable> make_program(const ScheduleRequest& request) {
  PARETO_TRY(check(request));
  PARETO_ASSIGN(const Program program, program_from_json(request.program));
  PARETO_ASSIGN(MarkedUnits marked, mark_units(program, request.graph, request.partial));
  PARETO_ASSIGN(const Staff staff, staff_of(program, marked, request.workers));
  Timetable timetable{.units = std::move(marked.units),
                      .parts = count_parts(program.split, request)};
  leave_whole(program.split, timetable);
  timetable.phases.push_back(
      phase_of(take_turns(program, timetable, staff, request.graph, request.hand_off)));
  PARETO_TRY(check(timetable, request.graph));
  if (program.split.parts > 1 && timetable.parts == 1) {
    PARETO_ASSIGN(timetable, unsplit(std::move(timetable), request));
  }
  PARETO_TRY(check_memory(program, timetable, request.graph));
  return timetable;
}

}  // namespace pareto::schedules
