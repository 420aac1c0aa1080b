// What a timetable is refused for, and what is predicted of one that is good.
#include "runtime/schedules/timetable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/runtime/schedules/graphs.h"

namespace pareto::schedules {
namespace {

using test::add;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// 0 ─▶ 1 ─▶ 3, 0 ─▶ 2 ─▶ 3; costs 1, 4, 3, 2; with all threads half.
WeightedGraph diamond() {
  WeightedGraph graph;
  add(graph, 1, {}, 0.5);
  add(graph, 4, {0}, 2);
  add(graph, 3, {0}, 1.5);
  add(graph, 2, {1, 2}, 1);
  return graph;
}

/// Each operator a unit; worker 0 runs 0, 1 and 3, worker 1 runs 2.
Timetable beside() {
  Timetable timetable;
  for (std::size_t i = 0; i < 4; ++i) timetable.units.push_back({.operators = {i}});
  timetable.units[1].name = "left";
  timetable.phases = {{.workers = {{{0, 0}, {1, 0}, {3, 0}}, {{2, 0}}}}};
  return timetable;
}

std::string refusal(const Timetable& timetable, const WeightedGraph& graph = diamond()) {
  const auto checked = check(timetable, graph);
  if (checked) return "";
  EXPECT_EQ(checked.error().code, ErrorCode::kInvalidArgument);
  return checked.error().message;
}

TEST(Timetable, GoodOnesPass) {
  EXPECT_EQ(refusal(beside()), "");
  EXPECT_EQ(beside().workers(), 2U);
  EXPECT_THAT(unit_dependencies(beside(), diamond()),
              ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(0), ElementsAre(1, 2)));
  EXPECT_EQ(refusal({}, {}), "") << "nothing to run";
  EXPECT_EQ(Timetable{}.workers(), 0U);
}

TEST(Timetable, AnOperatorIsInOneUnit) {
  Timetable timetable = beside();
  timetable.units[2].operators = {1, 2};
  EXPECT_EQ(refusal(timetable), "operator 1 (test::op) is in unit 1 \"left\" and in unit 2");
  timetable.units[2].operators = {1};
  EXPECT_THAT(refusal(timetable), HasSubstr("operator 1 (test::op) is in unit 1"));
  timetable = beside();
  timetable.units[0].operators = {0, 0};
  EXPECT_EQ(refusal(timetable), "operator 0 (test::op) is in unit 0 and in unit 0");
  timetable = beside();
  timetable.units.pop_back();
  timetable.phases[0].workers[0].pop_back();
  EXPECT_EQ(refusal(timetable), "operator 3 (test::op) is in no unit");
  EXPECT_EQ(refusal({}), "operator 0 (test::op) is in no unit");
}

TEST(Timetable, UnitsHaveOperatorsThatExistInOrder) {
  Timetable timetable = beside();
  timetable.units[3].operators = {4};
  EXPECT_EQ(refusal(timetable), "unit 3 has operator 4, and the graph has 4 operators");
  timetable.units[3].operators = {std::numeric_limits<std::size_t>::max()};
  EXPECT_THAT(refusal(timetable), HasSubstr("and the graph has 4 operators"));
  timetable.units[3].operators = {};
  EXPECT_EQ(refusal(timetable), "unit 3 has no operators");
  timetable = beside();
  timetable.units[2].operators = {3, 2};
  timetable.units.pop_back();
  EXPECT_EQ(refusal(timetable),
            "unit 2 has operator 2 after operator 3; their numbers must ascend");
}

TEST(Timetable, AUnitRunsOnceAPart) {
  Timetable timetable = beside();
  timetable.phases[0].workers[1].push_back({1, 0});
  EXPECT_EQ(refusal(timetable), "unit 1 \"left\", part 0, runs twice");
  timetable = beside();
  timetable.phases[0].workers[1].clear();
  EXPECT_EQ(refusal(timetable), "unit 2, part 0, never runs");
  timetable = beside();
  timetable.parts = 2;
  EXPECT_EQ(refusal(timetable), "unit 0, part 1, never runs");
  timetable.parts = 0;
  EXPECT_THAT(refusal(timetable), HasSubstr("in 0 parts"));
  timetable.parts = std::numeric_limits<std::size_t>::max();
  EXPECT_THAT(refusal(timetable), HasSubstr("have only 4 turns"));
  timetable = beside();
  timetable.phases[0].workers[1].push_back({9, 0});
  EXPECT_EQ(refusal(timetable), "phase 0 runs unit 9, part 0; there are 4 units and 1 parts");
  timetable.phases[0].workers[1].back() = {0, 7};
  EXPECT_EQ(refusal(timetable), "phase 0 runs unit 0, part 7; there are 4 units and 1 parts");
}

TEST(Timetable, APhaseHasWorkers) {
  Timetable timetable = beside();
  timetable.phases.push_back({});
  EXPECT_EQ(refusal(timetable), "phase 1 has no workers");
  timetable = beside();
  timetable.phases[0].all_threads = true;
  EXPECT_THAT(refusal(timetable), HasSubstr("gives all threads to one worker, and has 2 workers"));
}

TEST(Timetable, UnitsInACircleAreNamed) {
  Timetable timetable = beside();
  timetable.units = {{.operators = {0, 3}, .name = "ends"}, {.operators = {1, 2}}};
  timetable.phases = {{.workers = {{{0, 0}, {1, 0}}}}};
  EXPECT_THAT(refusal(timetable),
              AllOf(HasSubstr("2 units wait for each other in a circle: "),
                    HasSubstr("operator 3 (test::op) of unit 0 \"ends\" waits for operator 1 "
                              "(test::op) of unit 1"),
                    HasSubstr("operator 1 (test::op) of unit 1 waits for operator 0 (test::op) of "
                              "unit 0 \"ends\"")));
}

TEST(Timetable, AWorkerThatWaitsForEverIsNamed) {
  Timetable timetable = beside();
  timetable.phases[0].workers = {{{0, 0}, {3, 0}, {1, 0}}, {{2, 0}}};
  EXPECT_EQ(
      refusal(timetable),
      "worker 0 waits for ever in phase 0: operator 3 (test::op) of unit 3 waits for operator "
      "1 (test::op) of unit 1 \"left\", and that runs later");
  // Two that wait for each other, although the units do not.
  WeightedGraph graph;
  for (int i = 0; i < 2; ++i) add(graph, 1, {add(graph, 1)});
  timetable.phases[0].workers = {{{3, 0}, {0, 0}}, {{1, 0}, {2, 0}}};
  EXPECT_THAT(refusal(timetable, graph), HasSubstr("worker 0 waits for ever in phase 0"));
  // What it needs is in a later phase.
  timetable = beside();
  timetable.phases = {{.workers = {{{0, 0}, {3, 0}}}}, {.workers = {{{1, 0}}, {{2, 0}}}}};
  EXPECT_THAT(refusal(timetable), HasSubstr("worker 0 waits for ever in phase 0: operator 3"));
}

TEST(Timetable, PartsWaitForTheirOwnOnly) {
  Timetable timetable = beside();
  timetable.parts = 2;
  timetable.phases[0].workers = {{{0, 0}, {1, 0}, {2, 0}, {3, 0}},
                                 {{0, 1}, {2, 1}, {1, 1}, {3, 1}}};
  EXPECT_EQ(refusal(timetable), "");
  EXPECT_EQ(makespan(timetable, diamond(), 100), 5)
      << "each half of the batch, nothing handed over";
  timetable.phases[0].workers[1] = {{0, 1}, {2, 1}, {3, 1}, {1, 1}};
  EXPECT_THAT(refusal(timetable), HasSubstr("worker 1 waits for ever"));
}

TEST(Timetable, AWholeUnitWaitsForAllParts) {
  // 1 runs once, between the halves of 0 and those of 2.
  WeightedGraph graph;
  add(graph, 2, {add(graph, 4, {add(graph, 2)})});
  Timetable timetable;
  timetable.units = {{.operators = {0}}, {.operators = {1}, .whole = true}, {.operators = {2}}};
  timetable.parts = 2;
  timetable.phases = {{.workers = {{{0, 0}, {1, 0}, {2, 0}}, {{0, 1}, {2, 1}}}}};
  EXPECT_EQ(refusal(timetable, graph), "");
  EXPECT_EQ(makespan(timetable, graph, 0), 1 + 4 + 1);
  EXPECT_EQ(makespan(timetable, graph, 3), 1 + 3 + 4 + 3 + 1);
  EXPECT_EQ(peak_bytes(timetable, graph), 16U) << "two halves and the whole, then the same again";
  timetable.phases[0].workers[1].push_back({1, 1});
  EXPECT_EQ(refusal(timetable, graph),
            "phase 0 runs unit 1, part 1; that unit runs once, on the whole batch");
  timetable.phases[0].workers = {{{0, 0}, {1, 0}, {2, 0}}, {{2, 1}, {0, 1}}};
  EXPECT_THAT(refusal(timetable, graph), HasSubstr("waits for ever"));
}

TEST(Timetable, HostileGraphsAreRefused) {
  WeightedGraph graph = diamond();
  graph.nodes[1].after = {1};
  EXPECT_EQ(refusal(beside(), graph),
            "operator 1 (test::op) waits for operator 1 (test::op), which is not before it");
  graph.nodes[1].after = {77};
  EXPECT_THAT(refusal(beside(), graph), HasSubstr("waits for operator 77, which is not before it"));
  graph = diamond();
  graph.nodes[3].after = {2, 1};
  EXPECT_THAT(refusal(beside(), graph), HasSubstr("their numbers must ascend"));
  graph = diamond();
  graph.nodes[2].cost = -1;
  graph.nodes[2].scope = "features.3";
  EXPECT_EQ(refusal(beside(), graph),
            "operator 2 (test::op, features.3) has the cost -1; costs are at least 0");
  graph.nodes[2].cost = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refusal(beside(), graph), HasSubstr("has the cost nan"));
}

TEST(Timetable, MakespanCountsHandOffs) {
  EXPECT_EQ(makespan(beside(), diamond(), 0), 7);
  // 0 at 1, over at 1.5, 2 at 4.5, over at 5, before 1 at 5: nothing is lost.
  EXPECT_EQ(makespan(beside(), diamond(), 0.5), 7);
  EXPECT_EQ(makespan(beside(), diamond(), 1), 8);
  EXPECT_EQ(makespan({}, {}, 1), 0);
}

TEST(Timetable, PhasesMeet) {
  Timetable timetable = beside();
  timetable.phases = {{.workers = {{{0, 0}}}, .all_threads = true},
                      {.workers = {{{1, 0}}, {{2, 0}}}},
                      {.workers = {{{3, 0}}}, .all_threads = true}};
  EXPECT_EQ(refusal(timetable), "");
  EXPECT_EQ(makespan(timetable, diamond(), 0), 0.5 + 4 + 1);
  // Only what goes to worker 1 and back is handed over: 0.5 + 3 + 3 + 3 after 4.5.
  EXPECT_EQ(makespan(timetable, diamond(), 3), 0.5 + 3 + 3 + 3 + 1);
}

TEST(Timetable, CostsOfAllThreadsAreThoseOfOneWhereNotMeasured) {
  WeightedGraph graph = diamond();
  for (auto& node : graph.nodes) node.cost_all = 0;
  Timetable timetable;
  timetable.units = {{.operators = {0, 1, 2, 3}}};
  timetable.phases = {{.workers = {{{0, 0}}}, .all_threads = true}};
  EXPECT_EQ(makespan(timetable, graph, 1), 10);
  EXPECT_EQ(makespan(timetable, diamond(), 1), 5);
}

TEST(Timetable, ValuesDieAtTheirLastUse) {
  WeightedGraph graph;
  add(graph, 1);
  for (std::size_t i = 1; i < 6; ++i) add(graph, 1, {i - 1});
  Timetable timetable;
  timetable.units = {{.operators = {0, 1, 2, 3, 4, 5}}};
  timetable.phases = {{.workers = {{{0, 0}}}, .all_threads = true}};
  EXPECT_EQ(peak_bytes(timetable, graph), 16U) << "what an operator reads and what it makes";
  graph.nodes[5].after = {0, 4};
  EXPECT_EQ(peak_bytes(timetable, graph), 24U) << "the first is needed to the end";
  for (auto& node : graph.nodes) node.cost = 0;
  EXPECT_GE(peak_bytes(timetable, graph), 24U);
  EXPECT_EQ(peak_bytes({}, {}), 0U);
}

TEST(Timetable, WhatRunsBesideHoldsMore) {
  const WeightedGraph graph = test::branches(2, 4, 1);
  Timetable one;
  one.units = {{.operators = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}};
  one.phases = {{.workers = {{{0, 0}}}}};
  ASSERT_EQ(refusal(one, graph), "");
  EXPECT_EQ(peak_bytes(one, graph), 24U);
  Timetable two;
  two.units = {{.operators = {0}},
               {.operators = {1, 2, 3, 4}},
               {.operators = {5, 6, 7, 8}},
               {.operators = {9}}};
  two.phases = {{.workers = {{{0, 0}, {1, 0}, {3, 0}}, {{2, 0}}}}};
  ASSERT_EQ(refusal(two, graph), "");
  EXPECT_EQ(peak_bytes(two, graph), 40U)
      << "both units hold the first value until they have run, and two of their own";
}

TEST(Timetable, PartsHoldTheirShares) {
  WeightedGraph graph;
  add(graph, 2, {add(graph, 2)});
  Timetable timetable;
  timetable.units = {{.operators = {0, 1}}};
  timetable.parts = 2;
  timetable.phases = {{.workers = {{{0, 0}, {0, 1}}}}};
  ASSERT_EQ(refusal(timetable, graph), "");
  EXPECT_EQ(peak_bytes(timetable, graph), 12U) << "the first part's result, and two of the second";
  EXPECT_EQ(makespan(timetable, graph, 9), 4);
}

}  // namespace
}  // namespace pareto::schedules
