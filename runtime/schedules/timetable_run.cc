#include "runtime/schedules/timetable_run.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace pareto::schedules {
namespace {

/// One phase at a time: each worker goes as far as it can, and is woken by what it waits for.
class Runner {
 public:
  Runner(const Timetable& timetable, const std::vector<std::vector<std::size_t>>& dependencies)
      : timetable_(timetable),
        dependencies_(dependencies),
        done_(timetable.units.size() * timetable.parts),
        sleepers_(done_.size()) {}

  TimetableRun run() {
    for (std::size_t phase = 0; phase < timetable_.phases.size(); ++phase) {
      run_phase(phase);
      if (!result_.waiting.empty()) break;
    }
    return std::move(result_);
  }

 private:
  std::size_t place(const Turn& turn) const { return turn.unit * timetable_.parts + turn.part; }

  /// Returns the place of something that a turn waits for.
  std::optional<std::size_t> find_missing(const Turn& turn) const {
    for (const std::size_t unit : dependencies_[turn.unit]) {
      const Parts parts = needed_parts(timetable_, turn, unit);
      for (std::size_t part = parts.first; part < parts.last; ++part) {
        if (!done_[place({unit, part})]) return place({unit, part});
      }
    }
    return std::nullopt;
  }

  void run_phase(std::size_t phase) {
    const auto& workers = timetable_.phases[phase].workers;
    std::vector<std::size_t> next(workers.size());
    std::vector<std::size_t> awake;
    for (std::size_t worker = workers.size(); worker-- > 0;) awake.push_back(worker);
    while (!awake.empty()) {
      const std::size_t worker = awake.back();
      awake.pop_back();
      while (next[worker] < workers[worker].size()) {
        const Turn turn = workers[worker][next[worker]];
        if (const auto missing = find_missing(turn)) {
          sleepers_[*missing].push_back(worker);
          break;
        }
        done_[place(turn)] = true;
        result_.steps.push_back({phase, worker, turn});
        ++next[worker];
        auto& woken = sleepers_[place(turn)];
        awake.insert(awake.end(), woken.begin(), woken.end());
        woken.clear();
      }
    }
    for (std::size_t worker = 0; worker < workers.size(); ++worker) {
      if (next[worker] < workers[worker].size()) {
        result_.waiting.push_back({phase, worker, workers[worker][next[worker]]});
      }
    }
  }

  const Timetable& timetable_;
  const std::vector<std::vector<std::size_t>>& dependencies_;
  std::vector<bool> done_;                          ///< tells whether each part of a unit has run
  std::vector<std::vector<std::size_t>> sleepers_;  ///< workers that wait, by unit and part
  TimetableRun result_;
};

}  // namespace

TimetableRun run_order(const Timetable& timetable,
                       const std::vector<std::vector<std::size_t>>& dependencies) {
  return Runner(timetable, dependencies).run();
}

std::vector<TimedStep> predict(const Timetable& timetable, const WeightedGraph& graph,
                               double hand_off) {
  const auto dependencies = unit_dependencies(timetable, graph);
  struct Made {
    double at = 0;
    std::size_t worker = 0;
  };
  std::vector<Made> made(timetable.units.size() * timetable.parts);
  std::vector<double> free(timetable.workers());
  std::vector<TimedStep> timed;
  std::size_t phase = 0;
  for (const Step& step : run_order(timetable, dependencies).steps) {
    if (step.phase != phase) {
      phase = step.phase;
      std::ranges::fill(free, std::ranges::max(free));  // all workers meet
    }
    double start = free[step.worker];
    for (const std::size_t unit : dependencies[step.turn.unit]) {
      const Parts parts = needed_parts(timetable, step.turn, unit);
      for (std::size_t part = parts.first; part < parts.last; ++part) {
        const Made& value = made[unit * timetable.parts + part];
        start = std::max(start, value.at + (value.worker == step.worker ? 0 : hand_off));
      }
    }
    double cost = 0;
    for (const std::size_t op : timetable.units[step.turn.unit].operators) {
      const WeightedNode& node = graph.nodes[op];
      cost += timetable.phases[phase].all_threads ? node.shared_cost() : node.cost;
    }
    const Parts turns = parts_of(timetable, step.turn.unit);
    const double end = start + cost / static_cast<double>(turns.last);
    free[step.worker] = end;
    made[step.turn.unit * timetable.parts + step.turn.part] = {end, step.worker};
    timed.push_back({step, start, end});
  }
  return timed;
}

}  // namespace pareto::schedules
