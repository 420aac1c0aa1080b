// The clusters of Das & Rauchwerger (IPDPS 2024) on graphs small enough to follow by hand.
#include "runtime/schedules/clusters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/runtime/schedules/graphs.h"

namespace pareto::schedules {
namespace {

using test::add;
using testing::ElementsAre;
using testing::IsEmpty;

/// 0 ─▶ 1 ─▶ 2 ─▶ 5, 0 ─▶ 3 ─▶ 5, 0 ─▶ 4 ─▶ 5: costs 1, 4, 4, 2, 3, 1.
WeightedGraph fan() {
  WeightedGraph graph;
  add(graph, 1);
  add(graph, 4, {0});
  add(graph, 4, {1});
  add(graph, 2, {0});
  add(graph, 3, {0});
  add(graph, 1, {2, 3, 4});
  return graph;
}

TEST(Clusters, DistancesCountCostsAndEdges) {
  EXPECT_THAT(distances_to_end(fan(), 0), ElementsAre(10, 9, 5, 3, 4, 1));
  EXPECT_THAT(distances_to_end(fan(), 10), ElementsAre(40, 29, 15, 13, 14, 1));
  EXPECT_THAT(distances_to_end({}, 1), IsEmpty());
}

TEST(Clusters, CriticalPathAndTotal) {
  EXPECT_EQ(critical_path(fan()), 10);
  EXPECT_EQ(total_cost(fan()), 15);
  EXPECT_EQ(critical_path({}), 0);
  EXPECT_EQ(total_cost({}), 0);
}

TEST(Clusters, ChainsFollowTheFarthest) {
  const WeightedGraph graph = fan();
  EXPECT_THAT(linear_clusters(graph, distances_to_end(graph, 0)),
              ElementsAre(ElementsAre(0, 1, 2, 5), ElementsAre(4), ElementsAre(3)));
}

TEST(Clusters, TheEarlierOfTwoEquallyFarComesFirst) {
  const WeightedGraph graph = test::branches(3, 1, 1);
  EXPECT_THAT(linear_clusters(graph, distances_to_end(graph, 0)),
              ElementsAre(ElementsAre(0, 1, 4), ElementsAre(2), ElementsAre(3)));
}

TEST(Clusters, SpansThatDoNotOverlapMerge) {
  // Two diamonds in a row: the short sides of both are one worker's.
  WeightedGraph graph;
  std::size_t last = add(graph, 1);
  for (int i = 0; i < 2; ++i) {
    const std::size_t longer = add(graph, 1, {add(graph, 1, {last})});
    const std::size_t shorter = add(graph, 1, {add(graph, 1, {last})});
    last = add(graph, 1, {longer, shorter});
  }
  const auto distances = distances_to_end(graph, 0);
  const Clusters linear = linear_clusters(graph, distances);
  EXPECT_THAT(linear,
              ElementsAre(ElementsAre(0, 1, 2, 5, 6, 7, 10), ElementsAre(3, 4), ElementsAre(8, 9)));
  EXPECT_THAT(merge_clusters(distances, linear),
              ElementsAre(ElementsAre(0, 1, 2, 5, 6, 7, 10), ElementsAre(3, 4, 8, 9)));
}

TEST(Clusters, SpansThatTouchDoNotOverlap) {
  const std::vector<double> distances{9, 5, 5, 1, 7};
  EXPECT_THAT(merge_clusters(distances, {{0, 1}, {2, 3}}), ElementsAre(ElementsAre(0, 1, 2, 3)));
  EXPECT_THAT(merge_clusters(distances, {{0, 1}, {4}}),
              ElementsAre(ElementsAre(0, 1), ElementsAre(4)))
      << "a single operator in the middle of a span overlaps it";
  EXPECT_THAT(merge_clusters(distances, {{1}, {2}}), ElementsAre(ElementsAre(1, 2)));
}

TEST(Clusters, AMergedClusterRemembersItsGaps) {
  // The third lies between the spans of the first two, which have become one.
  const std::vector<double> distances{9, 8, 2, 1, 6, 4};
  EXPECT_THAT(merge_clusters(distances, {{0, 1}, {2, 3}, {4, 5}}),
              ElementsAre(ElementsAre(0, 1, 2, 3, 4, 5)));
}

TEST(Clusters, BoundingKeepsTheBestPairs) {
  // A long branch and two short ones: the short ones share a worker.
  const WeightedGraph graph = fan();
  const Clusters linear = linear_clusters(graph, distances_to_end(graph, 0));
  EXPECT_THAT(bound_clusters(graph, linear, 2, 0),
              ElementsAre(ElementsAre(0, 1, 2, 5), ElementsAre(3, 4)));
  EXPECT_THAT(bound_clusters(graph, linear, 1, 0), ElementsAre(ElementsAre(0, 1, 2, 3, 4, 5)));
  EXPECT_EQ(bound_clusters(graph, linear, 3, 0), linear);
  EXPECT_EQ(bound_clusters(graph, linear, 0, 0).size(), 1U) << "none is taken for one";
}

TEST(Clusters, DearHandOffsLeaveNothingBeside) {
  WeightedGraph graph = test::branches(2, 1, 1);
  const Clusters linear = linear_clusters(graph, distances_to_end(graph, 0));
  ASSERT_EQ(linear.size(), 2U);
  EXPECT_THAT(bound_clusters(graph, linear, 1, 100), ElementsAre(ElementsAre(0, 1, 2, 3)));
}

TEST(Clusters, BoundingManyIsQuick) {
  const WeightedGraph graph = test::branches(400, 3, 5);
  const auto distances = distances_to_end(graph, 0);
  const Clusters merged = merge_clusters(distances, linear_clusters(graph, distances));
  EXPECT_EQ(merged.size(), 400U);
  const Clusters bounded = bound_clusters(graph, merged, 4, 1);
  ASSERT_EQ(bounded.size(), 4U);
  for (const auto& cluster : bounded) EXPECT_GT(cluster.size(), 150U) << "each has work";
}

TEST(Clusters, EachOperatorIsInOneOnRandomGraphs) {
  std::mt19937_64 random(36);
  for (int i = 0; i < 300; ++i) {
    const WeightedGraph graph = test::random_graph(random);
    const auto distances = distances_to_end(graph, static_cast<double>(random() % 3) * 500);
    const Clusters linear = linear_clusters(graph, distances);
    const Clusters merged = merge_clusters(distances, linear);
    const Clusters bounded = bound_clusters(graph, merged, 1 + random() % 4, 500);
    std::vector<std::size_t> expected(graph.nodes.size());
    std::iota(expected.begin(), expected.end(), std::size_t{0});
    for (const Clusters* clusters : {&linear, &merged, &bounded}) {
      std::vector<std::size_t> all;
      for (const auto& cluster : *clusters) {
        EXPECT_TRUE(std::ranges::is_sorted(cluster));
        all.insert(all.end(), cluster.begin(), cluster.end());
      }
      std::ranges::sort(all);
      EXPECT_EQ(all, expected);
    }
    // No two of the merged ones can be merged: of each, the spans of its chains are known.
    EXPECT_EQ(merge_clusters(distances, linear), merged);
    for (const auto& cluster : linear) {
      for (std::size_t k = 1; k < cluster.size(); ++k) {
        EXPECT_TRUE(std::ranges::binary_search(graph.nodes[cluster[k]].after, cluster[k - 1]));
      }
    }
    // Chains in one merged cluster do not overlap.
    for (std::size_t a = 0; a < linear.size(); ++a) {
      for (std::size_t b = a + 1; b < linear.size(); ++b) {
        const bool together = std::ranges::any_of(merged, [&](const auto& cluster) {
          return std::ranges::binary_search(cluster, linear[a][0]) &&
                 std::ranges::binary_search(cluster, linear[b][0]);
        });
        if (!together) continue;
        EXPECT_FALSE(distances[linear[a].back()] < distances[linear[b].front()] &&
                     distances[linear[b].back()] < distances[linear[a].front()]);
      }
    }
  }
}

}  // namespace
}  // namespace pareto::schedules
