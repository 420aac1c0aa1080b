#include "partitioner/planning/search/graph_ideals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partitioner/planning/cost/device_costs.h"
#include "partitioner/planning/search/ideal_costs.h"
#include "tests/partitioner/model/graph/hand_made.h"

namespace pareto::planning {
namespace {

using test::HandMade;
using testing::ElementsAre;

/// Two branches listed in turns, both reading the input; one weight is read in both.
model::Graph two_branches() {
  HandMade made;
  made.input("x", 10).weight("both", 40).weight("right", 4);
  made.op("a", "aten::relu", "", {"x"}, 1, {0}).op("b", "aten::relu", "", {"x"}, 1, {0, 1});
  made.op("c", "aten::mul", "", {"a"}, 1, {0}).op("d", "aten::mul", "", {"b"}, 1, {1});
  made.op("e", "aten::add", "", {"c", "d"}).output("e");
  return made.graph();
}

TEST(DataFlow, HasTheGraphsValues) {
  const auto flow = data_flow(two_branches(), 2);
  ASSERT_TRUE(flow) << flow.error().message;
  EXPECT_EQ(flow->operators, 5);
  ASSERT_EQ(flow->values.size(), 6U);
  EXPECT_EQ(flow->values[0].producer, -1);
  EXPECT_THAT(flow->values[0].readers, ElementsAre(0, 1));
  EXPECT_EQ(flow->values[0].bytes, 2 * 10 * 4);
  EXPECT_TRUE(flow->values[5].is_output);
}

TEST(DataFlow, GroupsAreOneOperator) {
  model::Graph graph = two_branches();
  graph.groups = {{1, 3}, {0}, {2}, {4}};  // in a topological order that is not the model's
  graph.operators[2].after = {1};
  const auto flow = data_flow(graph, 1);
  ASSERT_TRUE(flow) << flow.error().message;
  EXPECT_EQ(flow->operators, 4);
  // "b" stays inside the first group; what runs after it in turn reads nothing of it.
  ASSERT_EQ(flow->values.size(), 6U);
  EXPECT_THAT(flow->values[0].readers, ElementsAre(0, 1));
  EXPECT_EQ(flow->values.back().producer, 0);
  EXPECT_THAT(flow->values.back().readers, ElementsAre(2));
  EXPECT_EQ(flow->values.back().bytes, 0);
  const auto found = find_graph_ideals(graph, 1);
  ASSERT_TRUE(found) << found.error().message;
  // {}, the group, {0}, both, all but the last, all.
  EXPECT_THAT(found->operators,
              testing::UnorderedElementsAre(
                  plan::OperatorRanges{}, plan::OperatorRanges{{1, 2}, {3, 4}},
                  plan::OperatorRanges{{0, 1}}, plan::OperatorRanges{{0, 2}, {3, 4}},
                  plan::OperatorRanges{{0, 4}}, plan::OperatorRanges{{0, 5}}));
}

TEST(DataFlow, WhatFollowsAloneGoesWithWhatItFollows) {
  HandMade made;
  made.input("x").weight("w", 16);
  made.op("a", "aten::conv2d", "", {"x"}, 1, {0}).op("b", "aten::conv2d", "", {"x"}, 1, {0});
  made.op("c", "aten::relu", "", {"a"}).op("d", "aten::relu", "", {"b"});
  made.op("e", "aten::dropout", "", {"c"});
  made.op("f", "aten::add", "", {"d", "e"}).op("g", "aten::relu", "", {"f"});
  made.op("h", "aten::sigmoid", "", {"g"}).op("i", "aten::tanh", "", {"g"});
  made.op("j", "aten::mul", "", {"h", "i"}).output("j");
  model::Graph graph = made.graph();
  const auto flow = data_flow(graph, 1);
  ASSERT_TRUE(flow) << flow.error().message;
  EXPECT_EQ(flow->operators, 6) << "a c e, b d, f g, h, i, j";
  const auto found = find_graph_ideals(graph, 1);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->operators, testing::Contains(plan::OperatorRanges{{0, 1}, {2, 3}, {4, 5}}));
  EXPECT_THAT(found->operators, testing::Not(testing::Contains(plan::OperatorRanges{{0, 1}})));
  // Not where it takes its turn behind others, nor where somebody returns what it reads.
  graph.operators[3].after = {0};
  EXPECT_EQ(data_flow(graph, 1)->operators, 7);
  graph.values[static_cast<std::size_t>(made.index("f"))].is_output = true;
  EXPECT_EQ(data_flow(graph, 1)->operators, 8);
}

TEST(GraphIdeals, KnowTheirOperators) {
  const auto found = find_graph_ideals(two_branches(), 1);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->operators.size(), 10U) << "three places in each branch, and the end";
  EXPECT_EQ(found->ideals.boundary_bytes.front(), 40);
  EXPECT_EQ(found->ideals.boundary_bytes.back(), 16);
  const auto left = std::ranges::find(found->operators, plan::OperatorRanges{{0, 1}, {2, 3}});
  ASSERT_NE(left, found->operators.end());
  const auto at = left - found->operators.begin();
  EXPECT_EQ(found->ideals.boundary_bytes[static_cast<std::size_t>(at)], 40 + 16);
  EXPECT_EQ(stage_operators(*found, static_cast<int>(at), 9),
            (plan::ShardOperators{{{0, 1}, {2, 3}}, {{1, 2}, {3, 5}}}));
}

plan::DeviceProfile profile() {
  plan::DeviceProfile profile;
  profile.device = "pi-1";
  profile.model = "branches";
  profile.overhead = Nanoseconds(3);
  profile.operators = {Nanoseconds(10), Nanoseconds(20), Nanoseconds(30), Nanoseconds(40),
                       Nanoseconds(100)};
  profile.shards = {{0, 2, Nanoseconds(18), Nanoseconds(9), 0},
                    {0, 5, Nanoseconds(100), Nanoseconds(50), 0},
                    {2, 5, Nanoseconds(88), Nanoseconds(44), 0}};
  return profile;
}

TEST(IdealCosts, OfPrefixesAreThoseOfPositions) {
  const auto found = find_graph_ideals(two_branches(), 1);
  ASSERT_TRUE(found) << found.error().message;
  const auto costs = ideal_costs(profile(), *found);
  const auto row = device_costs(profile(), {0, 1, 2, 3, 4, 5});
  ASSERT_TRUE(costs && row);
  EXPECT_EQ(costs->name, "pi-1");
  EXPECT_EQ(costs->overhead.count(), 3);
  int prefixes = 0;
  for (std::size_t i = 0; i < found->operators.size(); ++i) {
    const plan::OperatorRanges& set = found->operators[i];
    if (set.size() > 1 || (set.size() == 1 && set[0].begin > 0)) continue;
    ++prefixes;
    const auto position = static_cast<std::size_t>(plan::count_of(set));
    EXPECT_EQ(costs->compute[i], row->compute[position]);
    EXPECT_EQ(costs->enter[i], row->enter[position]);
    EXPECT_EQ(costs->busy->compute[i], row->busy->compute[position]);
  }
  EXPECT_EQ(prefixes, 6);
}

TEST(IdealCosts, OfOtherSetsAddUpTheirOperators) {
  const auto found = find_graph_ideals(two_branches(), 1);
  ASSERT_TRUE(found) << found.error().message;
  const auto costs = ideal_costs(profile(), *found);
  const auto row = device_costs(profile(), {0, 1, 2, 3, 4, 5});
  ASSERT_TRUE(costs && row);
  const auto right = static_cast<std::size_t>(
      std::ranges::find(found->operators, plan::OperatorRanges{{1, 2}, {3, 4}}) -
      found->operators.begin());
  ASSERT_LT(right, found->operators.size());
  EXPECT_EQ(costs->compute[right],
            row->compute[2] - row->compute[1] + row->compute[4] - row->compute[3]);
  EXPECT_GE(costs->enter[right].count(), 0);
  EXPECT_FALSE(ideal_costs(plan::DeviceProfile{}, *found));
}

TEST(IdealWeights, CountOnceInASet) {
  const model::Graph graph = two_branches();
  const auto found = find_graph_ideals(graph, 1);
  ASSERT_TRUE(found) << found.error().message;
  const auto bytes = ideal_weight_bytes(graph, *found);
  for (std::size_t i = 0; i < found->operators.size(); ++i) {
    const bool left = plan::holds(found->operators[i], 0);
    const bool right = plan::holds(found->operators[i], 1);
    EXPECT_EQ(bytes[i], (left || right ? 40 : 0) + (right ? 4 : 0));
  }
}

TEST(SharedWeights, AreThoseThatACutParts) {
  // "both" is read by the first three operators, "right" by the second and the fourth.
  const auto shared = shared_weights(two_branches(), {{}, {{0, 1}}, {{0, 3}}, {{0, 5}}});
  ASSERT_EQ(shared.size(), 2U);
  EXPECT_EQ(shared[0], (SharedWeight{4, {0, 0, 1, 2}}));
  EXPECT_EQ(shared[1], (SharedWeight{40, {0, 1, 3, 3}}));
  EXPECT_THAT(shared_weights(two_branches(), {{}, {{0, 4}}, {{0, 5}}}), testing::IsEmpty());
}

TEST(SharedWeights, WithThoseUsedFirstAreAllThatAStageNeeds) {
  const model::Graph graph = two_branches();
  const auto found = find_graph_ideals(graph, 1);
  ASSERT_TRUE(found) << found.error().message;
  DeviceCosts device;
  device.weight_bytes = ideal_weight_bytes(graph, *found);
  device.shared_weights = shared_weights(graph, found->operators);
  for (int begin = 0; begin < static_cast<int>(found->operators.size()); ++begin) {
    for (const int end : found->ideals.ends[static_cast<std::size_t>(begin)]) {
      const plan::OperatorRanges own = stage_operators(*found, begin, end).own;
      const bool both = plan::holds(own, 0) || plan::holds(own, 1) || plan::holds(own, 2);
      const bool right = plan::holds(own, 1) || plan::holds(own, 3);
      EXPECT_EQ(stage_memory_bytes(device, begin, end), (both ? 40 : 0) + (right ? 4 : 0))
          << to_string(own);
    }
  }
}

}  // namespace
}  // namespace pareto::planning
