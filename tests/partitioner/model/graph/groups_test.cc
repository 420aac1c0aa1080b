#include "partitioner/model/graph/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partitioner/model/graph/cuts.h"
#include "tests/partitioner/model/graph/hand_made.h"
#include "tests/partitioner/scripted.h"

namespace pareto::model {
namespace {

using test::HandMade;
using test::open;
using test::scripted;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::SizeIs;

/// Returns two branches listed in turns: 0 feeds 1 and 2, which feed 3 and 4, which 5 joins.
Graph two_branches() {
  HandMade made;
  made.input("x").op("a", "aten::relu", "", {"x"});
  made.op("b", "aten::relu", "left", {"a"}).op("c", "aten::relu", "right", {"a"});
  made.op("d", "aten::relu", "left", {"b"}).op("e", "aten::relu", "right", {"c"});
  made.op("f", "aten::add", "", {"d", "e"}).output("f");
  return made.graph();
}

TEST(InseparableGroups, AreSingleOperatorsWhereNothingIsTied) {
  const auto groups = inseparable_groups(two_branches(), {});
  EXPECT_EQ(groups.size(), 6U);
  EXPECT_THAT(groups, Contains(ElementsAre(3)));
  EXPECT_THAT(groups.front(), ElementsAre(0));
  EXPECT_THAT(groups.back(), ElementsAre(5));
}

TEST(InseparableGroups, HoldWhatLiesBetweenTheTied) {
  EXPECT_THAT(inseparable_groups(two_branches(), {{1, 5}}),
              testing::UnorderedElementsAre(ElementsAre(0), ElementsAre(2), ElementsAre(4),
                                            ElementsAre(1, 3, 5)));
  // The other branch lies between 0 and 5 as well.
  EXPECT_THAT(inseparable_groups(two_branches(), {{0, 5}}),
              ElementsAre(ElementsAre(0, 1, 2, 3, 4, 5)));
  // Tied to each other across the branches, they run together.
  EXPECT_THAT(inseparable_groups(two_branches(), {{1, 4}, {2, 3}}),
              ElementsAre(ElementsAre(0), ElementsAre(1, 2, 3, 4), ElementsAre(5)));
}

TEST(InseparableGroups, HaveAllTheyNeedBeforeThem) {
  Graph graph = two_branches();
  graph.operators[1].after = {2};  // against nothing but its place in the list
  const auto groups = inseparable_groups(graph, {{4, 5}});
  std::vector<std::int64_t> order;
  for (const auto& group : groups) order.insert(order.end(), group.begin(), group.end());
  const auto needed = needed_by_each(graph);
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const std::int64_t before : needed[static_cast<std::size_t>(order[i])]) {
      EXPECT_THAT(
          std::vector<std::int64_t>(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(i)),
          Contains(before));
    }
  }
  EXPECT_THAT(needed_by_each(graph)[1], ElementsAre(0, 2));
}

TEST(InseparableGroups, AConvolutionAndItsNorm) {
  HandMade made;
  made.input("x").op("a", "aten::conv2d", "", {"x"}).op("b", "aten::relu", "", {"x"});
  made.op("c", "aten::batch_norm", "", {"a"}).op("d", "aten::add", "", {"b", "c"}).output("d");
  EXPECT_THAT(folded_norms(made.graph()), ElementsAre(std::pair<std::int64_t, std::int64_t>(0, 2)));
  EXPECT_THAT(inseparable_groups(made.graph(), {}), Contains(ElementsAre(0, 2)));
}

TEST(Cuts, TakeSetsOfOperators) {
  const Graph graph = two_branches();
  // All of the left branch, nothing of the right one: what crosses is a and d.
  const plan::OperatorRanges left{{0, 2}, {3, 4}};
  EXPECT_TRUE(check_cut(graph, left));
  EXPECT_THAT(live_values(graph, left), ElementsAre(1, 4));
  ASSERT_THAT(boundary(graph, left), SizeIs(2));
  EXPECT_EQ(boundary(graph, left)[1].name, "d");
  EXPECT_EQ(boundary_bytes(graph, left, 3).value(), 2U * 3 * 4 * 4);
  EXPECT_THAT(live_values(graph, plan::OperatorRanges{}), ElementsAre(0));
  EXPECT_THAT(live_values(graph, plan::OperatorRanges{{0, 6}}), ElementsAre(6));
  EXPECT_EQ(cut_name(left), "op:2:3-4");
  EXPECT_EQ(cut_name({{0, 3}}), "op:3");
}

TEST(Cuts, ThatLackWhatTheyNeedAreRefused) {
  Graph graph = two_branches();
  graph.groups = inseparable_groups(graph, {{2, 4}});
  const auto refusal = [&](const plan::OperatorRanges& before) {
    const auto checked = check_cut(graph, before);
    return checked ? std::string("accepted") : checked.error().message;
  };
  EXPECT_EQ(refusal({{0, 2}, {3, 4}}), "accepted");
  EXPECT_THAT(
      refusal({{0, 1}, {3, 4}}),
      HasSubstr("operator 3 (aten::relu in left) runs before operator 1 (aten::relu in left)"));
  EXPECT_THAT(refusal({{0, 3}}), HasSubstr("operator 2 (aten::relu in right) and operator 4"));
  EXPECT_THAT(refusal({{0, 7}}), HasSubstr("[0, 7) of a model that has 6"));
}

/// Expects of an examined model that no group is cut by a legal position, and that every illegal
/// one cuts one.
void expect_groups_as_positions(const Model& model) {
  for (const SplitPoint& point : model.split_points()) {
    EXPECT_EQ(check_cut(model.graph(), {{0, point.position}}).has_value(), point.legal)
        << point.name << ": " << point.reason;
  }
}

TEST(ModelGroups, WritesInPlaceKeepTheirTurn) {
  const auto model = test::open(test::scripted("Alias", R"(
def forward(self, x):
    base = torch.relu(x)
    seen = base.sum()
    view = base[:, 0:2]
    other = torch.sigmoid(x)
    view.fill_(3.0)
    return base + other.sum() + seen
)"),
                                "4");
  ASSERT_TRUE(model) << model.error().message;
  const Graph& graph = model->graph();
  const auto at = [&](const std::string& kind) {
    const auto kinds = test::kinds(graph);
    return std::find(kinds.begin(), kinds.end(), kind) - kinds.begin();
  };
  const std::int64_t write = at("aten::fill_");
  ASSERT_LT(write, static_cast<std::int64_t>(graph.operators.size()));
  // Who reads the memory before it is written runs before; who reads it afterwards runs after,
  // though no value says so.
  EXPECT_THAT(graph.operators[static_cast<std::size_t>(write)].after, Contains(at("aten::sum")));
  EXPECT_THAT(graph.operators[static_cast<std::size_t>(at("aten::add"))].after, Contains(write));
  // Between the view and the write both names would cross, in any order.
  EXPECT_THAT(graph.groups, Contains(IsSupersetOf({at("aten::slice"), write})));
  expect_groups_as_positions(*model);
}

TEST(ModelGroups, WhatCannotCrossStaysWithItsReaders) {
  const auto model = test::open(test::sized_by_data(), "50");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_LT(model->graph().groups.size(), model->graph().operators.size());
  expect_groups_as_positions(*model);
}

TEST(ModelGroups, RandomNumbersAreDrawnInTurn) {
  const auto model = test::open(test::scripted("Random", R"(
def forward(self, x):
    return torch.rand_like(x) * torch.sigmoid(x) + torch.rand_like(x)
)"),
                                "4");
  ASSERT_TRUE(model) << model.error().message;
  std::vector<std::int64_t> random;
  for (std::size_t i = 0; i < model->graph().operators.size(); ++i) {
    if (model->graph().operators[i].uses_random) random.push_back(static_cast<std::int64_t>(i));
  }
  ASSERT_THAT(random, SizeIs(2));
  EXPECT_THAT(model->graph().operators[static_cast<std::size_t>(random[0])].after, IsEmpty());
  EXPECT_THAT(model->graph().operators[static_cast<std::size_t>(random[1])].after,
              ElementsAre(random[0]));
}

}  // namespace
}  // namespace pareto::model
