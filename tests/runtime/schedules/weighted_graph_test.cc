#include "runtime/schedules/weighted_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/runtime/schedules/graphs.h"

namespace pareto::schedules {
namespace {

using testing::HasSubstr;

TEST(WeightedGraph, UsersAreThoseThatWait) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 50; ++i) {
    const WeightedGraph graph = test::random_graph(random);
    const auto users = users_of(graph);
    ASSERT_EQ(users.size(), graph.nodes.size());
    for (std::size_t before = 0; before < graph.nodes.size(); ++before) {
      std::vector<std::size_t> expected;
      for (std::size_t op = 0; op < graph.nodes.size(); ++op) {
        const auto& after = graph.nodes[op].after;
        if (std::ranges::find(after, before) != after.end()) expected.push_back(op);
      }
      EXPECT_EQ(users[before], expected);
    }
  }
  EXPECT_TRUE(users_of({}).empty());
}

TEST(WeightedGraph, OperatorsAreNamedByKindAndModule) {
  WeightedGraph graph;
  test::add(graph, 1);
  test::add(graph, 1);
  graph.nodes[1].scope = "features.3";
  EXPECT_EQ(operator_name(graph, 0), "operator 0 (test::op)");
  EXPECT_EQ(operator_name(graph, 1), "operator 1 (test::op, features.3)");
  EXPECT_EQ(operator_name(graph, 2), "operator 2") << "one that does not exist";
}

TEST(WeightedGraph, TheCostWithAllThreadsIsThatOnOneIfItWasNotMeasured) {
  EXPECT_EQ((WeightedNode{.kind = "a", .cost = 3}).shared_cost(), 3);
  EXPECT_EQ((WeightedNode{.kind = "a", .cost = 3, .cost_all = 2}).shared_cost(), 2);
}

TEST(WeightedGraph, CostsAreNumbersOfAtLeastZero) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double wrong : {-1.0, -1e-300, infinity, -infinity, std::nan("")}) {
    for (double WeightedNode::*cost : {&WeightedNode::cost, &WeightedNode::cost_all}) {
      WeightedGraph graph = test::branches(2, 2, 10);
      ASSERT_TRUE(check(graph));
      graph.nodes[3].*cost = wrong;
      const auto checked = check(graph);
      ASSERT_FALSE(checked) << wrong;
      EXPECT_EQ(checked.error().code, ErrorCode::kInvalidArgument);
      EXPECT_THAT(checked.error().message, HasSubstr("operator 3 (test::op) has the cost"));
    }
  }
  WeightedGraph graph = test::branches(1, 1, 0);
  EXPECT_TRUE(check(graph));
  graph.nodes[0].cost = std::numeric_limits<double>::max();
  EXPECT_TRUE(check(graph));
}

TEST(WeightedGraph, OperatorsWaitForEarlierOnesInAscendingOrder) {
  const auto refusal_of = [](std::vector<std::size_t> after) {
    WeightedGraph graph = test::branches(2, 1, 10);
    graph.nodes[2].after = std::move(after);
    const auto checked = check(graph);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(refusal_of({}), "");
  EXPECT_EQ(refusal_of({0, 1}), "");
  EXPECT_THAT(refusal_of({2}), HasSubstr("waits for operator 2 (test::op), which is not before"));
  EXPECT_THAT(refusal_of({0, 3}), HasSubstr("which is not before it"));
  EXPECT_THAT(refusal_of({std::numeric_limits<std::size_t>::max()}), HasSubstr("not before it"));
  EXPECT_THAT(refusal_of({1, 0}), HasSubstr("operators 1 and 0; their numbers must ascend"));
  EXPECT_THAT(refusal_of({1, 1}), HasSubstr("must ascend"));
}

}  // namespace
}  // namespace pareto::schedules
