#include "partitioner/model/graph/split_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/graph/hand_made.h"

namespace pareto::model {
namespace {

using test::HandMade;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// x -> a -> b -> c -> add(c, a): a skip connection over b and c.
HandMade residual() {
  HandMade made;
  made.input("x", 8).weight("a.weight", 400).weight("b.weight", 40);
  made.op("a", "aten::conv2d", "stem", {"x"}, 10, {0});
  made.op("b", "aten::conv2d", "block.conv", {"a"}, 20, {1});
  made.op("c", "aten::relu", "block.relu", {"b"}, 30, {0});
  made.op("d", "aten::add", "block", {"c", "a"}, 40);
  made.output("d");
  return made;
}

TEST(SplitPoints, EveryPositionBetweenTwoOperators) {
  const auto points = find_split_points(residual().graph(), {});
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0].position, 1);
  EXPECT_EQ(points[2].position, 3);
}

TEST(SplitPoints, WhatIsReadLaterCrosses) {
  const HandMade made = residual();
  const auto points = find_split_points(made.graph(), {});
  EXPECT_THAT(points[0].live, ElementsAre(made.index("a")));
  EXPECT_THAT(points[1].live, ElementsAre(made.index("a"), made.index("b")));
  EXPECT_THAT(points[2].live, ElementsAre(made.index("a"), made.index("c")));
  EXPECT_EQ(points[1].tensors, 2);
  for (const SplitPoint& point : points) {
    EXPECT_EQ(point.live, live_values(made.graph(), point.position));
  }
}

TEST(SplitPoints, TheEndsAreInputsAndOutputs) {
  HandMade made;
  made.input("unused").input("x").op("a", "aten::relu", "", {"x"}).op("b", "aten::relu", "", {"a"});
  made.output("b").output("x");
  EXPECT_THAT(live_values(made.graph(), 0), ElementsAre(0, 1));
  EXPECT_THAT(live_values(made.graph(), 1), ElementsAre(made.index("x"), made.index("a")))
      << "an input that the model returns passes through";
  EXPECT_THAT(live_values(made.graph(), 2), ElementsAre(made.index("b"), made.index("x")));
}

TEST(SplitPoints, CostsLieOnEitherSide) {
  const auto points = find_split_points(residual().graph(), {});
  EXPECT_DOUBLE_EQ(points[1].flops_before, 30);
  EXPECT_DOUBLE_EQ(points[1].flops_after, 70);
  EXPECT_EQ(points[0].weight_bytes_before, 400U);
  EXPECT_EQ(points[0].weight_bytes_after, 440U) << "a weight used on both sides counts on both";
  EXPECT_EQ(points[2].weight_bytes_before, 440U);
  EXPECT_EQ(points[2].weight_bytes_after, 0U);
}

TEST(SplitPoints, TheOutermostModuleThatEndsGivesTheName) {
  HandMade made;
  made.input("x");
  made.op("a", "aten::conv2d", "features.0.conv", {"x"});
  made.op("b", "aten::relu", "features.0.relu", {"a"});
  made.op("c", "aten::relu", "features.1", {"b"});
  made.op("d", "aten::relu", "", {"c"});
  made.op("e", "aten::relu", "head", {"d"});
  made.output("e");
  const auto points = find_split_points(made.graph(), {});
  EXPECT_THAT(points[0].names, ElementsAre("after:features.0.conv", "op:1"));
  EXPECT_THAT(points[1].names, ElementsAre("after:features.0", "after:features.0.relu", "op:2"));
  EXPECT_EQ(points[2].name, "after:features");
  EXPECT_EQ(points[3].name, "op:4") << "an operator of no module";
}

TEST(SplitPoints, NotBetweenAConvolutionAndItsNorm) {
  HandMade made;
  made.input("x");
  made.op("a", "aten::_convolution", "conv", {"x"});
  made.op("other", "aten::relu", "side", {"x"});
  made.op("n", "aten::batch_norm", "norm", {"a"});
  made.op("out", "aten::add", "", {"n", "other"});
  made.output("out");
  const auto points = find_split_points(made.graph(), {});
  EXPECT_FALSE(points[0].legal);
  EXPECT_FALSE(points[1].legal) << "something else stands between the two, but not in the way";
  EXPECT_THAT(points[1].reason, HasSubstr("norm"));
  EXPECT_TRUE(points[2].legal);
}

TEST(SplitPoints, ADropoutIsNoPlaceOfItsOwn) {
  HandMade made;
  made.input("x").op("a", "aten::linear", "head.0", {"x"}).op("b", "aten::relu", "head.1", {"a"});
  made.op("c", "aten::dropout", "head.2", {"b"}).op("d", "aten::linear", "head.3", {"c"});
  made.op("e", "aten::dropout", "head.4", {"d"}).op("f", "aten::relu", "", {"e"}).output("f");
  const auto points = find_split_points(made.graph(), {});
  EXPECT_FALSE(points[1].legal);
  EXPECT_THAT(points[1].reason, AllOf(HasSubstr("dropout (head.2)"), HasSubstr("at op:3")));
  EXPECT_THAT(points[1].names, ElementsAre("op:2"));
  EXPECT_TRUE(points[2].legal);
  EXPECT_THAT(points[2].names, ElementsAre("after:head.1", "after:head.2", "op:3"));
  EXPECT_THAT(points[4].names, ElementsAre("after:head", "after:head.3", "after:head.4", "op:5"));
  const auto modules = select_split_points(points, "modules");
  ASSERT_TRUE(modules) << modules.error().message;
  EXPECT_THAT(*modules, ElementsAre(0, 2, 4));
}

TEST(SplitPoints, ADropoutWithAValueThatOthersReadIsAPlace) {
  HandMade made;
  made.input("x").op("a", "aten::relu", "a", {"x"}).op("b", "aten::dropout", "b", {"a"});
  made.op("c", "aten::add", "", {"a", "b"}).output("c");
  EXPECT_TRUE(find_split_points(made.graph(), {})[0].legal);
  Graph always = made.graph();
  always.values[1].users = {1};
  EXPECT_FALSE(find_split_points(always, {})[0].legal);
  always.operators[1].always_drops = true;
  EXPECT_TRUE(find_split_points(always, {})[0].legal) << "it changes what crosses";
}

TEST(SplitPoints, AConvolutionThatOthersReadDoesNotFold) {
  HandMade made;
  made.input("x");
  made.op("a", "aten::conv2d", "conv", {"x"});
  made.op("n", "aten::batch_norm", "norm", {"a"});
  made.op("out", "aten::add", "", {"n", "a"});
  made.output("out");
  EXPECT_TRUE(find_split_points(made.graph(), {})[0].legal);
}

TEST(SplitPoints, ReasonsOfTheFrontEndAreKept) {
  const auto points = find_split_points(residual().graph(), {"", "", "written later", "", ""});
  EXPECT_TRUE(points[0].legal);
  EXPECT_FALSE(points[1].legal);
  EXPECT_EQ(points[1].reason, "written later");
}

TEST(SplitPoints, BoundariesGrowWithTheBatch) {
  const HandMade made = residual();
  EXPECT_EQ(boundary_bytes(made.graph(), 0, 1).value(), 32U);
  EXPECT_EQ(boundary_bytes(made.graph(), 2, 1).value(), 32U);
  EXPECT_EQ(boundary_bytes(made.graph(), 2, 5).value(), 160U);
  const auto values = boundary(made.graph(), 2);
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[0].name, "a");
  EXPECT_EQ(values[1].name, "b");
}

TEST(SplitPoints, TransposedValuesCrossInMemoryOrder) {
  HandMade made = residual();
  made.value("a").spec = test::tensor_spec({{0, 1}, {3, 0}, {7, 0}});
  made.value("a").layout.order = {0, 2, 1};
  EXPECT_EQ(boundary(made.graph(), 1)[0].spec.tensor.shape(2), (Shape{2, 7, 3}));
  made.value("d").layout.order = {1, 0};
  EXPECT_EQ(boundary(made.graph(), 4)[0].spec.tensor.shape(2), (Shape{2, 4}))
      << "the model's own outputs stay what they are";
}

}  // namespace
}  // namespace pareto::model
