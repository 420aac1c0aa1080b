#include "runtime/schedules/program_turns.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

#include "core/base/text.h"
#include "runtime/schedules/clusters.h"
#include "runtime/schedules/timetable_run.h"

namespace pareto::schedules {
namespace {

bool has_tag(const Unit& unit, const std::string& tag) {
  return std::ranges::find(unit.tags, tag) != unit.tags.end();
}

/// Returns how welcome a unit is to a worker.
std::size_t welcome_of(const ProgramWorker& worker, const Unit& unit, const std::string& only) {
  if (!only.empty()) return only == worker.name ? 0 : kRefused;
  if (worker.takes.empty()) return 0;
  for (std::size_t i = 0; i < worker.takes.size(); ++i) {
    if (has_tag(unit, worker.takes[i])) return i;
  }
  return kRefused;
}

/// Returns units as operators, in their order.
WeightedGraph unit_graph(const Timetable& timetable, const WeightedGraph& graph) {
  const auto dependencies = unit_dependencies(timetable, graph);
  WeightedGraph units;
  for (std::size_t i = 0; i < timetable.units.size(); ++i) {
    WeightedNode& node = units.nodes.emplace_back();
    node.cost = 0;
    for (const std::size_t op : timetable.units[i].operators) node.cost += graph.nodes[op].cost;
    node.after = dependencies[i];
  }
  return units;
}

/// Simulates workers that are never idle if there is something for them to do.
class TurnTaker {
 public:
  TurnTaker(const Program& program, const Timetable& timetable, const Staff& staff,
            const WeightedGraph& graph, double hand_off)
      : timetable_(timetable), staff_(staff), hand_off_(hand_off), workers_(staff.welcome.size()) {
    const WeightedGraph units = unit_graph(timetable, graph);
    place_of_.resize(timetable.units.size() * timetable.parts, kNoTurn);
    for (std::size_t unit = 0; unit < timetable.units.size(); ++unit) {
      const auto [first, last] = parts_of(timetable, unit);
      for (std::size_t part = first; part < last; ++part) {
        place_of_[unit * timetable.parts + part] = turns_.size();
        const double cost = units.nodes[unit].cost / static_cast<double>(last);
        turns_.push_back({.turn = {unit, part}, .cost = cost});
      }
    }
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      for (const std::size_t before : units.nodes[turns_[i].turn.unit].after) {
        const auto [first, last] = needed_parts(timetable, turns_[i].turn, before);
        for (std::size_t part = first; part < last; ++part) {
          const std::size_t place = place_of_[before * timetable.parts + part];
          turns_[i].after.push_back(place);
          turns_[place].users.push_back(i);
        }
      }
      turns_[i].missing = turns_[i].after.size();
    }
    rank(program, distances_to_end(units, 0));
  }

  std::vector<std::vector<Turn>> run() {
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      if (turns_[i].missing == 0) ready_.push_back(i);
    }
    std::size_t left = turns_.size();
    double now = 0;
    while (left > 0 && now < kNever) {
      end_turns(now);
      double next = kNever;
      for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
        if (workers_[worker].free <= now && take(worker, now, next)) --left;
      }
      now = running_.empty() ? next : std::min(next, running_.top().first);
    }
    std::vector<std::vector<Turn>> lists;
    for (Worker& worker : workers_) lists.push_back(std::move(worker.turns));
    return lists;
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr std::size_t kNoTurn = static_cast<std::size_t>(-1);

  struct TurnState {
    Turn turn{};
    double cost = 0;
    std::size_t rank = 0;  ///< the lower, the earlier it is taken
    std::vector<std::size_t> after{};
    std::vector<std::size_t> users{};
    std::size_t missing = 0;  ///< turns that it still waits for
    std::size_t worker = 0;
    double end = 0;
  };
  struct Worker {
    double free = 0;
    std::vector<Turn> turns{};
  };

  /// Ranks turns by the program's order. Without one, those that the longest way to the end begins
  /// with come first, then those of earlier parts.
  void rank(const Program& program, const std::vector<double>& distances) {
    using By = OrderRule::By;
    const std::vector<OrderRule> usual{{.by = By::kPath}, {.by = By::kPart}};
    const auto& rules = program.order.empty() ? usual : program.order;
    std::vector<std::vector<double>> keys;
    for (const TurnState& state : turns_) {
      auto& key = keys.emplace_back();
      for (const OrderRule& rule : rules) {
        if (rule.by == By::kTag) {
          key.push_back(has_tag(timetable_.units[state.turn.unit], rule.tag) ? 0 : 1);
          continue;
        }
        const double value = rule.by == By::kPart ? static_cast<double>(state.turn.part)
                                                  : -distances[state.turn.unit];
        key.push_back(rule.reversed ? -value : value);
      }
    }
    std::vector<std::size_t> order(turns_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(
        order, {}, [&](std::size_t i) -> const auto& { return keys[i]; });
    for (std::size_t i = 0; i < order.size(); ++i) turns_[order[i]].rank = i;
  }

  void end_turns(double now) {
    while (!running_.empty() && running_.top().first <= now) {
      const std::size_t ended = running_.top().second;
      running_.pop();
      for (const std::size_t user : turns_[ended].users) {
        if (--turns_[user].missing == 0) ready_.push_back(user);
      }
    }
  }

  /// Returns when all that a turn needs has come to a worker.
  double arrival(const TurnState& state, std::size_t worker) const {
    double latest = 0;
    for (const std::size_t before : state.after) {
      const TurnState& needed = turns_[before];
      latest = std::max(latest, needed.end + (needed.worker == worker ? 0 : hand_off_));
    }
    return latest;
  }

  /// Lets a free worker take a turn. Returns false if there is none for it now; `next` is then at
  /// most the time at which there will be.
  bool take(std::size_t worker, double now, double& next) {
    const std::vector<std::size_t>& welcome = staff_.welcome[worker];
    const auto wanted = [&](std::size_t i) {
      return std::pair(welcome[turns_[i].turn.unit], turns_[i].rank);
    };
    auto best = ready_.end();
    for (auto one = ready_.begin(); one != ready_.end(); ++one) {
      if (welcome[turns_[*one].turn.unit] == kRefused) continue;
      if (const double there = arrival(turns_[*one], worker); there > now) {
        next = std::min(next, there);
      } else if (best == ready_.end() || wanted(*one) < wanted(*best)) {
        best = one;
      }
    }
    if (best == ready_.end()) return false;
    TurnState& state = turns_[*best];
    state.worker = worker;
    state.end = workers_[worker].free = now + state.cost;
    workers_[worker].turns.push_back(state.turn);
    running_.emplace(state.end, *best);
    ready_.erase(best);
    return true;
  }

  const Timetable& timetable_;
  const Staff& staff_;
  double hand_off_;
  std::vector<Worker> workers_;
  std::vector<TurnState> turns_;
  std::vector<std::size_t> place_of_;  ///< in turns_, by unit and part
  std::vector<std::size_t> ready_;
  using End = std::pair<double, std::size_t>;  // when, which turn
  std::priority_queue<End, std::vector<End>, std::greater<>> running_;
};

}  // namespace

Expected<Staff> staff_of(const Program& program, const MarkedUnits& marked, std::size_t workers) {
  Staff staff;
  if (program.workers.empty()) {
    staff.welcome.assign(std::max<std::size_t>(workers, 1),
                         std::vector<std::size_t>(marked.units.size()));
    return staff;
  }
  staff.welcome.resize(program.workers.size());
  for (std::size_t unit = 0; unit < marked.units.size(); ++unit) {
    const std::size_t rule = marked.rule_of[unit];
    const std::string only = rule == kNoRule ? "" : program.units[rule].worker;
    bool taken = false;
    for (std::size_t i = 0; i < program.workers.size(); ++i) {
      staff.welcome[i].push_back(welcome_of(program.workers[i], marked.units[unit], only));
      taken = taken || staff.welcome[i].back() != kRefused;
    }
    if (taken) continue;
    return fail(ErrorCode::kInvalidArgument,
                "no worker takes the tag {} of unit \"{}\", {}: add it to what a worker takes",
                join(marked.units[unit].tags, " or "), marked.units[unit].name,
                rule == kNoRule ? "which no rule marks" : "of " + rule_name(program, rule));
  }
  return staff;
}

std::vector<std::vector<Turn>> take_turns(const Program& program, const Timetable& timetable,
                                          const Staff& staff, const WeightedGraph& graph,
                                          double hand_off) {
  return TurnTaker(program, timetable, staff, graph, hand_off).run();
}

}  // namespace pareto::schedules
