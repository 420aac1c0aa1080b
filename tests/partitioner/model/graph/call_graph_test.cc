#include "partitioner/model/graph/call_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/graph/hand_made.h"

namespace pareto::model {
namespace {

using test::HandMade;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(CallGraph, ListsArePartOfTheirUsers) {
  HandMade made;
  made.input("x")
      .op("a", "aten::conv2d", "one", {"x"})
      .op("b", "aten::linear", "two", {"x"})
      .op("list", "prim::ListConstruct", "", {"b", "a", "b"})
      .op("c", "aten::cat", "", {"list"})
      .op("pair", "prim::TupleConstruct", "", {"list", "c"})
      .op("d", "aten::relu", "three", {"pair"})
      .output("d");
  const auto calls = call_graph(made.graph());
  ASSERT_EQ(calls.nodes.size(), 4U);
  EXPECT_EQ(calls.nodes[0].kind, "aten::conv2d");
  EXPECT_EQ(calls.nodes[0].scope, "one");
  EXPECT_THAT(calls.nodes[0].after, IsEmpty()) << "an input of the model is no call";
  EXPECT_EQ(calls.nodes[2].kind, "aten::cat");
  EXPECT_THAT(calls.nodes[2].after, ElementsAre(0, 1));
  EXPECT_THAT(calls.nodes[3].after, ElementsAre(0, 1, 2));
  EXPECT_EQ(calls.nodes[0].cost, 6);
  EXPECT_EQ(calls.nodes[1].cost, 3);
  EXPECT_EQ(calls.nodes[2].cost, 1);
  EXPECT_TRUE(schedules::check(calls));
}

TEST(CallGraph, OperatorsThatOnlyWaitAreAfterToo) {
  HandMade made;
  made.input("x").op("a", "aten::add_", "", {"x"}).op("b", "aten::relu", "", {"x"});
  Graph graph = made.graph();
  graph.operators[1].after = {0};
  EXPECT_THAT(call_graph(graph).nodes[1].after, ElementsAre(0));
}

}  // namespace
}  // namespace pareto::model
