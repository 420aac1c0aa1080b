#include "runtime/execution/planned_turn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/runtime/schedules/graphs.h"

namespace pareto::runtime {
namespace {

using schedules::Timetable;
using schedules::Turn;
using schedules::WeightedGraph;

/// Returns neighbours as units in order, in some parts, on any worker of any phase.
Timetable turns_in_order(const WeightedGraph& graph, std::mt19937_64& random) {
  Timetable timetable;
  timetable.parts = 1 + random() % 3;
  const std::size_t workers = 1 + random() % 3;
  const auto add_phase = [&] { timetable.phases.emplace_back().workers.resize(workers); };
  add_phase();
  for (std::size_t op = 0; op < graph.nodes.size(); ++op) {
    if (op == 0 || random() % 2 == 0) timetable.units.push_back({.whole = random() % 4 == 0});
    timetable.units.back().operators.push_back(op);
  }
  for (std::size_t unit = 0; unit < timetable.units.size(); ++unit) {
    if (random() % 5 == 0) add_phase();
    const std::size_t parts = timetable.units[unit].whole ? 1 : timetable.parts;
    for (std::size_t part = 0; part < parts; ++part) {
      timetable.phases.back().workers[random() % workers].push_back({unit, part});
    }
  }
  return timetable;
}

TEST(PlanTurns, ATurnAwaitsThoseOfOtherWorkersInItsPhaseThatItNeeds) {
  std::mt19937_64 random(82);
  std::size_t waits = 0;
  for (int round = 0; round < 200; ++round) {
    const WeightedGraph graph = test::random_graph(random);
    const Timetable timetable = turns_in_order(graph, random);
    ASSERT_TRUE(schedules::check(timetable, graph));
    std::vector<std::size_t> unit_of(graph.nodes.size());
    for (std::size_t unit = 0; unit < timetable.units.size(); ++unit) {
      for (const std::size_t op : timetable.units[unit].operators) unit_of[op] = unit;
    }
    const auto planned = plan_turns(timetable, graph);
    ASSERT_EQ(planned.size(), timetable.phases.size());
    std::size_t next = 0;
    for (std::size_t phase = 0; phase < planned.size(); ++phase) {
      ASSERT_EQ(planned[phase].size(), timetable.phases[phase].workers.size());
      for (std::size_t worker = 0; worker < planned[phase].size(); ++worker) {
        const auto& turns = timetable.phases[phase].workers[worker];
        ASSERT_EQ(planned[phase][worker].size(), turns.size());
        for (std::size_t i = 0; i < turns.size(); ++i) {
          const PlannedTurn& one = planned[phase][worker][i];
          EXPECT_EQ(one.turn, turns[i]);
          EXPECT_EQ(one.number, next++);
          // By going through all others of the phase.
          std::set<std::size_t> expected;
          for (std::size_t other = 0; other < planned[phase].size(); ++other) {
            for (const PlannedTurn& before : planned[phase][other]) {
              bool needed = false;
              for (const std::size_t op : timetable.units[one.turn.unit].operators) {
                for (const std::size_t made : graph.nodes[op].after) {
                  needed = needed || unit_of[made] == before.turn.unit;
                }
              }
              const bool together =
                  timetable.units[one.turn.unit].whole || timetable.units[before.turn.unit].whole;
              needed = needed && before.turn.unit != one.turn.unit &&
                       (together || before.turn.part == one.turn.part);
              if (needed && other != worker) expected.insert(before.number);
            }
          }
          EXPECT_EQ(std::set(one.awaited.begin(), one.awaited.end()), expected);
          EXPECT_EQ(one.awaited.size(), expected.size()) << "each once";
          waits += expected.size();
        }
      }
    }
  }
  EXPECT_GT(waits, 500U);
}

TEST(PlanTurns, NothingIsPlannedOfNothing) { EXPECT_TRUE(plan_turns({}, {}).empty()); }

TEST(PlanTurns, AnIdleWorkerHasARowOfNone) {
  WeightedGraph graph;
  test::add(graph, 1);
  const Timetable timetable{.units = {{.operators = {0}}}, .phases = {{.workers = {{}, {{0, 0}}}}}};
  const auto planned = plan_turns(timetable, graph);
  ASSERT_EQ(planned.size(), 1U);
  ASSERT_EQ(planned[0].size(), 2U);
  EXPECT_TRUE(planned[0][0].empty());
  EXPECT_EQ(planned[0][1][0].number, 0U);
}

}  // namespace
}  // namespace pareto::runtime
