#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/schedules/clusters.h"
#include "runtime/schedules/schedule.h"
#include "tests/runtime/schedules/graphs.h"

namespace pareto::schedules {
namespace {

using test::add;
using testing::ElementsAre;

ScheduleRequest request_for(WeightedGraph graph, std::size_t workers, double hand_off) {
  ScheduleRequest request;
  request.graph = std::move(graph);
  request.workers = workers;
  request.hand_off = hand_off;
  return request;
}

Timetable made(const ScheduleRequest& request) {
  Timetable timetable = make_mixed(request).value();
  EXPECT_TRUE(check(timetable, request.graph));
  return timetable;
}

double span_of(const ScheduleRequest& request) {
  return makespan(made(request), request.graph, request.hand_off);
}

/// A chain that all threads make twice as fast, then branches that they do not, then such a chain.
WeightedGraph both() {
  WeightedGraph graph;
  std::size_t last = add(graph, 100, {}, 50);
  for (int i = 0; i < 4; ++i) last = add(graph, 100, {last}, 50);
  std::vector<std::size_t> ends;
  for (int branch = 0; branch < 2; ++branch) {
    std::size_t end = add(graph, 100, {last}, 98);
    for (int i = 0; i < 2; ++i) end = add(graph, 100, {end}, 98);
    ends.push_back(end);
  }
  last = add(graph, 100, ends, 50);
  for (int i = 0; i < 4; ++i) last = add(graph, 100, {last}, 50);
  return graph;
}

TEST(Mixed, EachStretchIsRunTheBetterWay) {
  const ScheduleRequest request = request_for(both(), 2, 2);
  const Timetable timetable = made(request);
  ASSERT_EQ(timetable.phases.size(), 3U);
  EXPECT_TRUE(timetable.phases[0].all_threads);
  EXPECT_FALSE(timetable.phases[1].all_threads);
  EXPECT_TRUE(timetable.phases[2].all_threads);
  EXPECT_THAT(timetable.units[0].operators, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(timetable.phases[1].workers.size(), 2U);
  EXPECT_THAT(timetable.units.back().operators, ElementsAre(11, 12, 13, 14, 15));
  EXPECT_EQ(makespan(timetable, request.graph, 2), 250 + 2 + 300 + 2 + 250);
}

TEST(Mixed, WhereMeetingsCostMoreThanTheyGainThereIsOneWay) {
  const Timetable timetable = made(request_for(both(), 2, 200));
  ASSERT_EQ(timetable.phases.size(), 1U);
  EXPECT_TRUE(timetable.phases[0].all_threads);
  EXPECT_EQ(timetable.units.size(), 1U);
}

TEST(Mixed, AChainThatThreadsDoNotHelpIsLeftAlone) {
  const Timetable timetable = made(request_for(test::branches(1, 9, 10), 2, 1));
  EXPECT_EQ(timetable.phases.size(), 1U);
  EXPECT_EQ(timetable.units.size(), 1U);
}

TEST(Mixed, BranchesRunBesideEachOther) {
  EXPECT_EQ(span_of(request_for(test::branches(4, 3, 10), 4, 0)), 50);
  EXPECT_EQ(span_of(request_for(test::branches(4, 3, 10), 2, 0)), 80);
  // Three chains of three on two workers: 9 operators of 10, at best 5 and 4 of them.
  EXPECT_EQ(span_of(request_for(test::branches(3, 3, 10), 2, 0)), 10 + 50 + 10);
}

TEST(Mixed, IsNeverPredictedSlowerThanTheSimpleOnes) {
  std::mt19937_64 random(11);
  int faster = 0;
  for (int i = 0; i < 300; ++i) {
    const ScheduleRequest request = request_for(test::random_graph(random), 1 + random() % 8,
                                                static_cast<double>(random() % 3) * 300);
    const double span = span_of(request);
    const double sequential =
        makespan(make_sequential(request).value(), request.graph, request.hand_off);
    EXPECT_LE(span, sequential);
    faster += span < sequential ? 1 : 0;
    // Clusters that use one worker only are sequential.
    EXPECT_LE(span,
              makespan(make_clusters(request).value(), request.graph, request.hand_off) + 1e-6);
  }
  EXPECT_GT(faster, 100);
}

TEST(Mixed, AListScheduleIsWithinGrahamsBound) {
  // Graham (1969): at most 2 - 1/m times the best, if nothing costs to hand over.
  std::mt19937_64 random(13);
  for (int i = 0; i < 300; ++i) {
    ScheduleRequest request = request_for(test::random_graph(random), 1 + random() % 4, 0);
    for (WeightedNode& node : request.graph.nodes) node.cost_all = 0;
    const auto workers = static_cast<double>(request.workers);
    const double path = critical_path(request.graph);
    EXPECT_LE(span_of(request),
              total_cost(request.graph) / workers + path * (1 - 1 / workers) + 1e-6);
  }
}

TEST(Mixed, LongBlocksAreQuick) {
  // Two streams side by side over 3000 operators: no place where one value crosses.
  WeightedGraph graph;
  std::vector<std::size_t> ends{add(graph, 10), add(graph, 10)};
  for (std::size_t i = 0; i < 3000; ++i) {
    ends[i % 2] = add(graph, 10, {ends[i % 2]}, 5.5);
  }
  const ScheduleRequest request = request_for(std::move(graph), 2, 1);
  EXPECT_LE(span_of(request), 15'100);
}

}  // namespace
}  // namespace pareto::schedules
