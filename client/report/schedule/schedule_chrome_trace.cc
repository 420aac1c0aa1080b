#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/report/schedule/schedule_writer.h"
#include "client/report/trace_events.h"
#include "core/base/json_text.h"

namespace pareto::report::schedule {
namespace {

Track track_of(const schedules::TurnTime& turn) { return {0, static_cast<int>(turn.worker) + 1}; }

Span span_of(const schedules::TurnTime& turn) {
  return {microseconds(turn.begin), microseconds(turn.end - turn.begin)};
}

/// Draws an arrow from each turn to each that waits for it on another worker.
void draw_hand_offs(const schedules::ScheduleTrace& trace, Events& events) {
  std::multimap<std::size_t, const schedules::TurnTime*> turns;
  for (const schedules::TurnTime& turn : trace.turns) turns.emplace(turn.unit, &turn);
  const auto needed = schedules::unit_dependencies(trace.timetable, trace.graph);
  const std::vector<schedules::Unit>& units = trace.timetable.units;
  std::uint64_t arrows = 0;
  for (const schedules::TurnTime& turn : trace.turns) {
    for (const std::size_t unit : needed[turn.unit]) {
      const auto [first, last] = turns.equal_range(unit);
      for (auto at = first; at != last; ++at) {
        const schedules::TurnTime& before = *at->second;
        const bool concerns =
            before.part == turn.part || units[unit].whole || units[turn.unit].whole;
        if (!concerns || before.worker == turn.worker) continue;
        events.arrow("hand-off", "s", track_of(before), microseconds(before.end), arrows);
        events.arrow("hand-off", "f", track_of(turn), microseconds(turn.begin), arrows);
        ++arrows;
      }
    }
  }
}

}  // namespace

std::string schedule_chrome_trace(const ScheduleReport& report) {
  const schedules::ScheduleTrace& trace = report.trace;
  const std::vector<UnitFacts> units = unit_facts(trace);
  Events events;
  events.name_process(0, report.model);
  for (std::size_t i = 0; i < worker_shares(report).size(); ++i) {
    events.name_thread({0, static_cast<int>(i) + 1}, report.worker_name(i));
  }
  for (const schedules::TurnTime& turn : trace.turns) {
    const UnitFacts& unit = units[turn.unit];
    events.complete(unit.name, track_of(turn), span_of(turn),
                    {{"unit", turn.unit},
                     {"part", turn.part},
                     {"operators", unit.operators},
                     {"all_threads", unit.shared},
                     {"tags", trace.timetable.units[turn.unit].tags}});
  }
  draw_hand_offs(trace, events);
  nlohmann::ordered_json document;
  document["displayTimeUnit"] = "ms";
  document["otherData"] = {{"software", "paretoctl " PARETO_VERSION},
                           {"model", report.model},
                           {"batch", report.batch},
                           {"schedule", report.schedule},
                           {"engine", report.engine},
                           {"precision", report.precision},
                           {"threads", report.threads}};
  document["traceEvents"] = events.take();
  return dump(document) + "\n";
}

}  // namespace pareto::report::schedule
