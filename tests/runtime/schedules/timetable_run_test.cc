// The order of turns and its prediction, against going round until nothing moves.
#include "runtime/schedules/timetable_run.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "tests/runtime/schedules/graphs.h"

namespace pareto::schedules {
namespace {

using Key = std::pair<std::size_t, std::size_t>;  // unit, part

/// Returns neighbours as units, each on any worker of any phase, in any order. It may not end.
Timetable any_timetable(const WeightedGraph& graph, std::mt19937_64& random, bool shuffled) {
  Timetable timetable;
  timetable.parts = 1 + random() % 3;
  for (std::size_t op = 0; op < graph.nodes.size(); ++op) {
    if (op == 0 || random() % 2 == 0) timetable.units.push_back({.whole = random() % 4 == 0});
    timetable.units.back().operators.push_back(op);
  }
  std::vector<Turn> turns;
  for (std::size_t unit = 0; unit < timetable.units.size(); ++unit) {
    const Parts parts = parts_of(timetable, unit);
    for (std::size_t part = parts.first; part < parts.last; ++part) turns.push_back({unit, part});
  }
  // A few swaps of neighbours: some of these orders can run, some cannot.
  for (std::size_t i = 0; shuffled && i + 1 < turns.size(); ++i) {
    if (random() % 4 == 0) std::swap(turns[i], turns[i + 1]);
  }
  const std::size_t workers = 1 + random() % 3;
  timetable.phases.push_back({.workers = std::vector<std::vector<Turn>>(workers)});
  for (const Turn& turn : turns) {
    if (random() % 8 == 0) {
      timetable.phases.push_back({.workers = std::vector<std::vector<Turn>>(workers)});
    }
    timetable.phases.back().workers[random() % workers].push_back(turn);
  }
  return timetable;
}

/// Returns the turns that a turn waits for.
std::vector<Key> awaited_by(const Timetable& timetable, const WeightedGraph& graph, Turn turn) {
  std::vector<std::size_t> unit_of(graph.nodes.size());
  for (std::size_t unit = 0; unit < timetable.units.size(); ++unit) {
    for (const std::size_t op : timetable.units[unit].operators) unit_of[op] = unit;
  }
  std::set<Key> keys;
  for (const std::size_t op : timetable.units[turn.unit].operators) {
    for (const std::size_t before : graph.nodes[op].after) {
      const std::size_t unit = unit_of[before];
      if (unit == turn.unit) continue;
      for (std::size_t part = 0; part < timetable.parts; ++part) {
        if (timetable.units[unit].whole && part > 0) continue;
        const bool together = timetable.units[unit].whole || timetable.units[turn.unit].whole;
        if (together || part == turn.part) keys.insert({unit, part});
      }
    }
  }
  return {keys.begin(), keys.end()};
}

/// Runs phases by going round all workers until nothing moves. Returns the turns that ran.
std::set<Key> ran_by_going_round(const Timetable& timetable, const WeightedGraph& graph) {
  std::set<Key> done;
  for (const Phase& phase : timetable.phases) {
    std::vector<std::size_t> next(phase.workers.size());
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t worker = 0; worker < next.size(); ++worker) {
        if (next[worker] == phase.workers[worker].size()) continue;
        const Turn turn = phase.workers[worker][next[worker]];
        const auto awaited = awaited_by(timetable, graph, turn);
        if (!std::ranges::all_of(awaited, [&](Key key) { return done.contains(key); })) continue;
        done.insert({turn.unit, turn.part});
        ++next[worker];
        moved = true;
      }
    }
    for (std::size_t worker = 0; worker < next.size(); ++worker) {
      if (next[worker] < phase.workers[worker].size()) return done;
    }
  }
  return done;
}

TEST(TimetableRun, RunsAllThatCanRunAndNamesWhatWaitsForEver) {
  std::mt19937_64 random(31);
  int stuck = 0;
  for (int round = 0; round < 400; ++round) {
    const WeightedGraph graph = test::random_graph(random);
    const Timetable timetable = any_timetable(graph, random, true);
    const TimetableRun run = run_order(timetable, unit_dependencies(timetable, graph));
    std::set<Key> done;
    for (const Step& step : run.steps) {
      for (const Key& key : awaited_by(timetable, graph, step.turn)) {
        EXPECT_TRUE(done.contains(key)) << "a turn runs before what it waits for";
      }
      EXPECT_TRUE(done.insert({step.turn.unit, step.turn.part}).second);
    }
    EXPECT_EQ(done, ran_by_going_round(timetable, graph));
    std::size_t turns = 0;
    for (const Phase& phase : timetable.phases) {
      for (const auto& worker : phase.workers) turns += worker.size();
    }
    EXPECT_EQ(run.waiting.empty(), done.size() == turns);
    for (const Step& step : run.waiting) {
      EXPECT_FALSE(done.contains({step.turn.unit, step.turn.part}));
    }
    stuck += run.waiting.empty() ? 0 : 1;
  }
  EXPECT_GT(stuck, 50);
  EXPECT_LT(stuck, 350);
}

TEST(TimetableRun, ATurnBeginsWhenItsWorkerIsFreeAndAllIsThere) {
  std::mt19937_64 random(32);
  for (int round = 0; round < 200; ++round) {
    const WeightedGraph graph = test::random_graph(random);
    const Timetable timetable = any_timetable(graph, random, false);
    if (!check(timetable, graph)) continue;
    const auto hand_off = static_cast<double>(random() % 3) * 700;
    std::map<Key, TimedStep> made;
    std::map<std::pair<std::size_t, std::size_t>, double> free;  // by phase and worker
    double met = 0;                                              // the end of all earlier phases
    std::size_t phase = 0;
    double last = 0;
    for (const TimedStep& timed : predict(timetable, graph, hand_off)) {
      if (timed.step.phase != phase) {
        phase = timed.step.phase;
        met = last;
      }
      double start = std::max(met, free[{phase, timed.step.worker}]);
      for (const Key& key : awaited_by(timetable, graph, timed.step.turn)) {
        const TimedStep& before = made.at(key);
        const bool near = before.step.worker == timed.step.worker;
        start = std::max(start, before.end + (near ? 0 : hand_off));
      }
      EXPECT_NEAR(timed.start, start, 1e-6);
      double cost = 0;
      const Unit& unit = timetable.units[timed.step.turn.unit];
      for (const std::size_t op : unit.operators) cost += graph.nodes[op].cost;
      EXPECT_NEAR(timed.end - timed.start,
                  unit.whole ? cost : cost / static_cast<double>(timetable.parts), 1e-6);
      free[{phase, timed.step.worker}] = timed.end;
      last = std::max(last, timed.end);
      made[{timed.step.turn.unit, timed.step.turn.part}] = timed;
    }
    EXPECT_NEAR(makespan(timetable, graph, hand_off), last, 1e-6);
  }
}

TEST(TimetableRun, NothingRunsInNoTime) {
  EXPECT_TRUE(run_order({}, {}).steps.empty());
  EXPECT_TRUE(run_order({}, {}).waiting.empty());
  EXPECT_TRUE(predict({}, {}, 1).empty());
}

TEST(TimetableRun, ALaterPhaseDoesNotBeginBehindOneThatWaits) {
  WeightedGraph graph;
  test::add(graph, 1);
  test::add(graph, 1, {0});
  test::add(graph, 1);
  Timetable timetable;
  for (std::size_t i = 0; i < 3; ++i) timetable.units.push_back({.operators = {i}});
  timetable.phases = {{.workers = {{{1, 0}}}}, {.workers = {{{0, 0}, {2, 0}}}}};
  const TimetableRun run = run_order(timetable, unit_dependencies(timetable, graph));
  EXPECT_TRUE(run.steps.empty());
  ASSERT_EQ(run.waiting.size(), 1U);
  EXPECT_EQ(run.waiting[0].turn, (Turn{1, 0}));
  EXPECT_EQ(run.waiting[0].phase, 0U);
}

}  // namespace
}  // namespace pareto::schedules
