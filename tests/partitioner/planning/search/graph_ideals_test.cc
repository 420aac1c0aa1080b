#include "partitioner/planning/search/graph_ideals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/graph/hand_made.h"

namespace pareto::search {
namespace {

using test::HandMade;
using testing::ElementsAre;

/// Returns two branches listed in turns, both reading the input; one weight is read in both.
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

}  // namespace
}  // namespace pareto::search
