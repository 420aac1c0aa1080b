#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/schedules/clusters.h"
#include "runtime/schedules/schedule.h"
#include "tests/runtime/schedules/graphs.h"

namespace pareto::schedules {
namespace {

using test::add;
using testing::ElementsAre;

Timetable made(const WeightedGraph& graph, std::size_t workers, double hand_off) {
  ScheduleRequest request;
  request.graph = graph;
  request.workers = workers;
  request.hand_off = hand_off;
  Timetable timetable = make_clusters(request).value();
  EXPECT_TRUE(check(timetable, graph));
  return timetable;
}

std::vector<std::vector<std::size_t>> units_of(const Timetable& timetable, std::size_t worker) {
  std::vector<std::vector<std::size_t>> units;
  for (const Turn& turn : timetable.phases.at(0).workers.at(worker)) {
    units.push_back(timetable.units[turn.unit].operators);
  }
  return units;
}

TEST(ClustersSchedule, CutsWhereWorkersWaitForEachOther) {
  const WeightedGraph graph = test::branches(2, 3, 10);
  const Timetable timetable = made(graph, 2, 1);
  ASSERT_EQ(timetable.phases.size(), 1U);
  EXPECT_FALSE(timetable.phases[0].all_threads);
  EXPECT_THAT(units_of(timetable, 0),
              ElementsAre(ElementsAre(0), ElementsAre(1, 2, 3), ElementsAre(7)));
  EXPECT_THAT(units_of(timetable, 1), ElementsAre(ElementsAre(4, 5, 6)));
  EXPECT_EQ(makespan(timetable, graph, 1), 10 + 1 + 30 + 1 + 10);
  EXPECT_EQ(timetable.units[3].name, "cluster 2.1");
}

TEST(ClustersSchedule, DoesNotCutWhereOneWaitedForALaterOperatorAnyway) {
  // The longer branch gives two values to the shorter one, which needs the later of them first.
  WeightedGraph graph;
  const std::size_t root = add(graph, 10);
  const std::size_t one = add(graph, 10, {root});
  const std::size_t two = add(graph, 10, {one});
  const std::size_t three = add(graph, 20, {two});
  const std::size_t side = add(graph, 5, {two});
  const std::size_t last_side = add(graph, 5, {one, side});
  add(graph, 10, {three, last_side});
  const Timetable timetable = made(graph, 2, 0);
  EXPECT_THAT(units_of(timetable, 0),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3), ElementsAre(6)));
  EXPECT_THAT(units_of(timetable, 1), ElementsAre(ElementsAre(4, 5)));
  EXPECT_EQ(makespan(timetable, graph, 0), 60);
}

TEST(ClustersSchedule, UnitsLoseNothing) {
  // Cut into units, clusters take as long as if each operator were free for others at once.
  std::mt19937_64 random(7);
  for (int i = 0; i < 200; ++i) {
    const WeightedGraph graph = test::random_graph(random);
    const Timetable timetable = made(graph, 1 + random() % 6, 500);
    if (timetable.workers() == 1) continue;
    Timetable fine;
    fine.phases.emplace_back();
    for (const auto& turns : timetable.phases[0].workers) {
      auto& worker = fine.phases[0].workers.emplace_back();
      for (const Turn& turn : turns) {
        for (const std::size_t op : timetable.units[turn.unit].operators) {
          worker.push_back({fine.units.size(), 0});
          fine.units.push_back({.operators = {op}});
        }
      }
    }
    ASSERT_TRUE(check(fine, graph));
    EXPECT_NEAR(makespan(timetable, graph, 500), makespan(fine, graph, 500), 1e-6);
  }
}

TEST(ClustersSchedule, AChainIsOneUnitWithAllThreads) {
  const Timetable timetable = made(test::branches(1, 5, 10), 4, 1);
  ASSERT_EQ(timetable.units.size(), 1U);
  EXPECT_TRUE(timetable.phases[0].all_threads);
  EXPECT_EQ(timetable.units[0].name, "cluster 1");
}

TEST(ClustersSchedule, UnitsAreNamedByTheirModules) {
  WeightedGraph graph = test::branches(2, 2, 10);
  graph.nodes[0].scope = "stem";
  graph.nodes[1].scope = "left.conv";
  graph.nodes[2].scope = "left.relu";
  const Timetable timetable = made(graph, 2, 1);
  EXPECT_EQ(timetable.units[0].name, "stem");
  EXPECT_EQ(timetable.units[1].name, "left.conv … left.relu");
}

}  // namespace
}  // namespace pareto::schedules
