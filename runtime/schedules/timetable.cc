#include "runtime/schedules/timetable.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "runtime/schedules/timetable_run.h"

namespace pareto::schedules {
namespace {

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

std::string unit_name(const Timetable& timetable, std::size_t unit) {
  const std::string& name = timetable.units[unit].name;
  return name.empty() ? fmt::format("unit {}", unit) : fmt::format("unit {} \"{}\"", unit, name);
}

/// Returns "operator 5 (aten::add) of unit 2 waits for operator 3 (aten::relu) of unit 1" of the
/// first such operator.
std::string why_waits(const Timetable& timetable, const WeightedGraph& graph, std::size_t unit,
                      std::size_t other) {
  const auto& others = timetable.units[other].operators;
  for (const std::size_t op : timetable.units[unit].operators) {
    for (const std::size_t before : graph.nodes[op].after) {
      if (std::ranges::binary_search(others, before)) {
        return fmt::format("{} of {} waits for {} of {}", operator_name(graph, op),
                           unit_name(timetable, unit), operator_name(graph, before),
                           unit_name(timetable, other));
      }
    }
  }
  return fmt::format("{} waits for {}", unit_name(timetable, unit), unit_name(timetable, other));
}

Expected<> check_units(const Timetable& timetable, const WeightedGraph& graph) {
  std::vector<std::size_t> unit_of(graph.nodes.size(), kNowhere);
  for (std::size_t unit = 0; unit < timetable.units.size(); ++unit) {
    const auto& operators = timetable.units[unit].operators;
    if (operators.empty()) {
      return fail(ErrorCode::kInvalidArgument, "{} has no operators", unit_name(timetable, unit));
    }
    for (std::size_t i = 0; i < operators.size(); ++i) {
      const std::size_t op = operators[i];
      if (op >= graph.nodes.size()) {
        return fail(ErrorCode::kInvalidArgument,
                    "{} has operator {}, and the graph has {} operators",
                    unit_name(timetable, unit), op, graph.nodes.size());
      }
      if (unit_of[op] != kNowhere) {
        return fail(ErrorCode::kInvalidArgument, "{} is in {} and in {}", operator_name(graph, op),
                    unit_name(timetable, unit_of[op]), unit_name(timetable, unit));
      }
      if (i > 0 && op < operators[i - 1]) {
        return fail(ErrorCode::kInvalidArgument,
                    "{} has operator {} after operator {}; their numbers must ascend",
                    unit_name(timetable, unit), op, operators[i - 1]);
      }
      unit_of[op] = unit;
    }
  }
  for (std::size_t op = 0; op < unit_of.size(); ++op) {
    if (unit_of[op] == kNowhere) {
      return fail(ErrorCode::kInvalidArgument, "{} is in no unit", operator_name(graph, op));
    }
  }
  return {};
}

/// Returns units that wait for each other in a circle, each for the next one, if there are such.
std::vector<std::size_t> find_circle(const std::vector<std::vector<std::size_t>>& dependencies) {
  enum class Seen : char { kNot, kOpen, kDone };
  std::vector<Seen> seen(dependencies.size(), Seen::kNot);
  std::vector<std::size_t> path;
  std::vector<std::size_t> next(dependencies.size());
  for (std::size_t first = 0; first < dependencies.size(); ++first) {
    if (seen[first] != Seen::kNot) continue;
    path.push_back(first);
    seen[first] = Seen::kOpen;
    while (!path.empty()) {
      const std::size_t unit = path.back();
      if (next[unit] == dependencies[unit].size()) {
        seen[unit] = Seen::kDone;
        path.pop_back();
        continue;
      }
      const std::size_t before = dependencies[unit][next[unit]++];
      if (seen[before] == Seen::kOpen) {
        path.erase(path.begin(), std::ranges::find(path, before));
        return path;
      }
      if (seen[before] == Seen::kNot) {
        seen[before] = Seen::kOpen;
        path.push_back(before);
      }
    }
  }
  return {};
}

Expected<> check_no_circle(const Timetable& timetable, const WeightedGraph& graph,
                           const std::vector<std::vector<std::size_t>>& dependencies) {
  const auto circle = find_circle(dependencies);
  if (circle.empty()) return {};
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(circle.size(), kShown); ++i) {
    text += (i > 0 ? "; " : "") +
            why_waits(timetable, graph, circle[i], circle[(i + 1) % circle.size()]);
  }
  if (circle.size() > kShown) text += "; …";
  return fail(ErrorCode::kInvalidArgument, "{} units wait for each other in a circle: {}",
              circle.size(), text);
}

Expected<> check_turns(const Timetable& timetable) {
  std::size_t turns = 0;
  for (std::size_t i = 0; i < timetable.phases.size(); ++i) {
    const Phase& phase = timetable.phases[i];
    if (phase.workers.empty()) {
      return fail(ErrorCode::kInvalidArgument, "phase {} has no workers", i);
    }
    if (phase.all_threads && phase.workers.size() > 1) {
      return fail(ErrorCode::kInvalidArgument,
                  "phase {} gives all threads to one worker, and has {} workers", i,
                  phase.workers.size());
    }
    for (const auto& worker : phase.workers) turns += worker.size();
  }
  const std::size_t units = timetable.units.size();
  // Before anything is allocated by parts: a number may be anything, turns are there.
  constexpr std::size_t kFew = 1'000'000;
  if (timetable.parts == 0 || (units > 0 && timetable.parts > (turns + kFew) / units)) {
    return fail(ErrorCode::kInvalidArgument, "{} units in {} parts have only {} turns", units,
                timetable.parts, turns);
  }
  std::vector<bool> seen(units * timetable.parts);
  for (std::size_t i = 0; i < timetable.phases.size(); ++i) {
    for (const auto& worker : timetable.phases[i].workers) {
      for (const Turn& turn : worker) {
        if (turn.unit >= units || turn.part >= timetable.parts) {
          return fail(ErrorCode::kInvalidArgument,
                      "phase {} runs unit {}, part {}; there are {} units and {} parts", i,
                      turn.unit, turn.part, units, timetable.parts);
        }
        if (turn.part >= parts_of(timetable, turn.unit).last) {
          return fail(ErrorCode::kInvalidArgument,
                      "phase {} runs {}, part {}; that unit runs once, on the whole batch", i,
                      unit_name(timetable, turn.unit), turn.part);
        }
        const std::size_t place = turn.unit * timetable.parts + turn.part;
        if (seen[place]) {
          return fail(ErrorCode::kInvalidArgument, "{}, part {}, runs twice",
                      unit_name(timetable, turn.unit), turn.part);
        }
        seen[place] = true;
      }
    }
  }
  for (std::size_t unit = 0; unit < units; ++unit) {
    for (std::size_t part = 0; part < parts_of(timetable, unit).last; ++part) {
      if (seen[unit * timetable.parts + part]) continue;
      return fail(ErrorCode::kInvalidArgument, "{}, part {}, never runs",
                  unit_name(timetable, unit), part);
    }
  }
  return {};
}

Expected<> check_ends(const Timetable& timetable, const WeightedGraph& graph,
                      const std::vector<std::vector<std::size_t>>& dependencies) {
  const TimetableRun run = run_order(timetable, dependencies);
  if (run.waiting.empty()) return {};
  std::vector<bool> done(timetable.units.size() * timetable.parts);
  for (const Step& step : run.steps) done[step.turn.unit * timetable.parts + step.turn.part] = true;
  const Step& stuck = run.waiting.front();
  const auto& needs = dependencies[stuck.turn.unit];
  const auto missing = std::ranges::find_if(needs, [&](std::size_t unit) {
    const Parts parts = needed_parts(timetable, stuck.turn, unit);
    for (std::size_t part = parts.first; part < parts.last; ++part) {
      if (!done[unit * timetable.parts + part]) return true;
    }
    return false;
  });
  return fail(ErrorCode::kInvalidArgument,
              "worker {} waits for ever in phase {}: {}, and that runs later", stuck.worker,
              stuck.phase, why_waits(timetable, graph, stuck.turn.unit, *missing));
}

/// When a value is there.
struct Life {
  double from = 0;
  double to = 0;
  std::uint64_t bytes = 0;
};

/// Returns the most bytes of values at one time. Where one ends another may begin; one that begins
/// and ends at once counts.
std::uint64_t most_bytes(const std::vector<Life>& lives) {
  struct Event {
    double at;
    int order;  ///< ends of longer lives, beginnings, ends of lives without a length
    std::uint64_t bytes;
  };
  std::vector<Event> events;
  for (const Life& life : lives) {
    events.push_back({life.from, 1, life.bytes});
    events.push_back({life.to, life.to > life.from ? 0 : 2, life.bytes});
  }
  std::ranges::sort(events, [](const Event& a, const Event& b) {
    return a.at != b.at ? a.at < b.at : a.order < b.order;
  });
  std::uint64_t now = 0;
  std::uint64_t most = 0;
  for (const Event& event : events) {
    now = event.order == 1 ? now + event.bytes : now - event.bytes;
    most = std::max(most, now);
  }
  return most;
}

}  // namespace

std::size_t Timetable::workers() const {
  std::size_t most = 0;
  for (const Phase& phase : phases) most = std::max(most, phase.workers.size());
  return most;
}

Expected<> check(const Timetable& timetable, const WeightedGraph& graph) {
  PARETO_TRY(check(graph));
  PARETO_TRY(check_units(timetable, graph));
  PARETO_TRY(check_turns(timetable));
  const auto dependencies = unit_dependencies(timetable, graph);
  PARETO_TRY(check_no_circle(timetable, graph, dependencies));
  return check_ends(timetable, graph, dependencies);
}

std::vector<std::vector<std::size_t>> unit_dependencies(const Timetable& timetable,
                                                        const WeightedGraph& graph) {
  std::vector<std::size_t> unit_of(graph.nodes.size());
  for (std::size_t unit = 0; unit < timetable.units.size(); ++unit) {
    for (const std::size_t op : timetable.units[unit].operators) unit_of[op] = unit;
  }
  std::vector<std::vector<std::size_t>> dependencies(timetable.units.size());
  for (std::size_t unit = 0; unit < timetable.units.size(); ++unit) {
    auto& others = dependencies[unit];
    for (const std::size_t op : timetable.units[unit].operators) {
      for (const std::size_t before : graph.nodes[op].after) {
        if (unit_of[before] != unit) others.push_back(unit_of[before]);
      }
    }
    std::ranges::sort(others);
    others.erase(std::unique(others.begin(), others.end()), others.end());
  }
  return dependencies;
}

double makespan(const Timetable& timetable, const WeightedGraph& graph, double hand_off) {
  double last = 0;
  for (const TimedStep& step : predict(timetable, graph, hand_off)) last = std::max(last, step.end);
  return last;
}

std::uint64_t peak_bytes(const Timetable& timetable, const WeightedGraph& graph) {
  const std::size_t operators = graph.nodes.size();
  const std::size_t parts = timetable.parts;
  const auto timed = predict(timetable, graph, 0);
  std::vector<Life> lives(operators * parts);
  std::vector<double> ends(lives.size());
  std::vector<double> unit_ends(timetable.units.size() * parts);
  std::vector<std::size_t> unit_of(operators);
  double last = 0;
  for (const TimedStep& one : timed) {
    const auto [unit, part] = one.step.turn;
    const std::size_t shares = parts_of(timetable, unit).last;
    unit_ends[unit * parts + part] = one.end;
    last = std::max(last, one.end);
    double now = one.start;
    for (const std::size_t op : timetable.units[unit].operators) {
      const WeightedNode& node = graph.nodes[op];
      unit_of[op] = unit;
      lives[op * parts + part].from = std::min(now, one.end);
      lives[op * parts + part].bytes = (node.output_bytes + shares - 1) / shares;
      now += (timetable.phases[one.step.phase].all_threads ? node.shared_cost() : node.cost) /
             static_cast<double>(shares);
      ends[op * parts + part] = std::min(now, one.end);
    }
  }
  const auto users = users_of(graph);
  for (std::size_t op = 0; op < operators; ++op) {
    for (std::size_t part = 0; part < parts_of(timetable, unit_of[op]).last; ++part) {
      Life& life = lives[op * parts + part];
      life.to = users[op].empty() ? last : life.from;
      for (const std::size_t user : users[op]) {
        if (unit_of[user] == unit_of[op]) {
          life.to = std::max(life.to, ends[user * parts + part]);
          continue;
        }
        // Another unit holds what it was given until it has run.
        const Parts turns = needed_parts(timetable, {unit_of[op], part}, unit_of[user]);
        for (std::size_t turn = turns.first; turn < turns.last; ++turn) {
          life.to = std::max(life.to, unit_ends[unit_of[user] * parts + turn]);
        }
      }
    }
  }
  return most_bytes(lives);
}

}  // namespace pareto::schedules
