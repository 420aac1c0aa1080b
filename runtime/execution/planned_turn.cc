#include "runtime/execution/planned_turn.h"

#include <unordered_map>

#include "runtime/schedules/timetable_run.h"

namespace pareto::runtime {

std::vector<PlannedPhase> plan_turns(const schedules::Timetable& timetable,
                                     const schedules::WeightedGraph& graph) {
  std::vector<PlannedPhase> phases;
  std::size_t turns = 0;
  const auto dependencies = schedules::unit_dependencies(timetable, graph);
  struct Place {
    std::size_t worker = 0;
    std::size_t number = 0;
  };
  for (const schedules::Phase& phase : timetable.phases) {
    PlannedPhase& planned = phases.emplace_back();
    // The places of this phase's turns, by unit and part.
    std::unordered_map<std::size_t, Place> places;
    const auto key = [&](std::size_t unit, std::size_t part) {
      return unit * timetable.parts + part;
    };
    for (std::size_t worker = 0; worker < phase.workers.size(); ++worker) {
      auto& row = planned.emplace_back();
      for (const schedules::Turn& turn : phase.workers[worker]) {
        places[key(turn.unit, turn.part)] = {worker, turns};
        row.push_back({turn, turns++, {}});
      }
    }
    for (std::size_t worker = 0; worker < planned.size(); ++worker) {
      for (PlannedTurn& one : planned[worker]) {
        for (const std::size_t unit : dependencies[one.turn.unit]) {
          const schedules::Parts needed = schedules::needed_parts(timetable, one.turn, unit);
          for (std::size_t part = needed.first; part < needed.last; ++part) {
            const auto found = places.find(key(unit, part));
            if (found == places.end() || found->second.worker == worker) continue;
            one.awaited.push_back(found->second.number);
          }
        }
      }
    }
  }
  return phases;
}

}  // namespace pareto::runtime
