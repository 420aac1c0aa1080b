#include "runtime/schedules/program_units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace pareto::schedules {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Returns operators that each wait for some before, in one of `modules` modules "m0", "m1" …
WeightedGraph graph_in_modules(std::mt19937& random, std::size_t modules) {
  WeightedGraph graph;
  for (std::size_t i = 1 + random() % 12; i > 0; --i) {
    WeightedNode node{.kind = random() % 2 == 0 ? "aten::a" : "aten::b"};
    for (std::size_t k = 0; k < graph.nodes.size(); ++k) {
      if (random() % 4 == 0) node.after.push_back(k);
    }
    node.scope = "m" + std::to_string(random() % modules);
    graph.nodes.push_back(std::move(node));
  }
  return graph;
}

/// Returns whether groups wait for each other: by taking away those that wait for none left.
bool has_circle(const WeightedGraph& graph, const std::vector<std::size_t>& group_of) {
  std::map<std::size_t, std::set<std::size_t>> needs;
  for (std::size_t op = 0; op < graph.nodes.size(); ++op) {
    auto& own = needs[group_of[op]];
    for (const std::size_t before : graph.nodes[op].after) {
      if (group_of[before] != group_of[op]) own.insert(group_of[before]);
    }
  }
  for (bool moved = true; moved;) {
    moved = false;
    for (auto it = needs.begin(); it != needs.end(); ++it) {
      const auto is_left = [&](std::size_t group) { return needs.contains(group); };
      if (std::ranges::any_of(it->second, is_left)) continue;
      needs.erase(it);
      moved = true;
      break;
    }
  }
  return !needs.empty();
}

/// Each operator is in one unit, and units wait only for units before them.
void expect_units_of(const MarkedUnits& marked, const WeightedGraph& graph) {
  ASSERT_EQ(marked.rule_of.size(), marked.units.size());
  std::vector<std::size_t> unit_of(graph.nodes.size(), kNoRule);
  for (std::size_t unit = 0; unit < marked.units.size(); ++unit) {
    const auto& operators = marked.units[unit].operators;
    EXPECT_FALSE(operators.empty());
    EXPECT_FALSE(marked.units[unit].name.empty());
    EXPECT_TRUE(std::ranges::is_sorted(operators));
    for (const std::size_t op : operators) {
      EXPECT_EQ(unit_of[op], kNoRule) << "operator " << op << " is in two units";
      unit_of[op] = unit;
    }
  }
  for (std::size_t op = 0; op < graph.nodes.size(); ++op) {
    ASSERT_NE(unit_of[op], kNoRule) << "operator " << op << " is in none";
    for (const std::size_t before : graph.nodes[op].after) {
      EXPECT_LE(unit_of[before], unit_of[op]);
    }
  }
}

TEST(MarkUnits, ModulesAreUnitsUnlessTheyWaitForEachOther) {
  std::mt19937 random(61);
  int circles = 0;
  for (int round = 0; round < 400; ++round) {
    const WeightedGraph graph = graph_in_modules(random, 4);
    // Modules 0 and 1 are marked; every other operator may stand on its own.
    Program program;
    program.units = {{.modules = {"m0"}, .tags = {"compute"}},
                     {.modules = {"m1"}, .tags = {"mine"}}};
    std::vector<std::size_t> group_of;
    for (std::size_t op = 0; op < graph.nodes.size(); ++op) {
      const std::string& scope = graph.nodes[op].scope;
      group_of.push_back(scope == "m0" ? 1000 : scope == "m1" ? 1001 : op);
    }
    const auto marked = mark_units(program, graph, /*partial=*/true);
    EXPECT_EQ(!marked.has_value(), has_circle(graph, group_of));
    if (!marked) {
      ++circles;
      EXPECT_EQ(marked.error().code, ErrorCode::kInvalidArgument);
      EXPECT_THAT(marked.error().message, HasSubstr("mark what lies between as well, or less"));
      continue;
    }
    expect_units_of(*marked, graph);
    for (std::size_t unit = 0; unit < marked->units.size(); ++unit) {
      const std::size_t rule = marked->rule_of[unit];
      for (const std::size_t op : marked->units[unit].operators) {
        EXPECT_EQ(graph.nodes[op].scope == "m0", rule == 0U);
        EXPECT_EQ(graph.nodes[op].scope == "m1", rule == 1U);
      }
      const std::string tag = rule == 0 ? "compute" : rule == 1 ? "mine" : kOtherTag;
      EXPECT_THAT(marked->units[unit].tags, ElementsAre(tag));
    }
  }
  EXPECT_GT(circles, 50);
  EXPECT_LT(circles, 350);
}

TEST(MarkUnits, JoinedOperatorsNeverWaitInACircle) {
  std::mt19937 random(62);
  for (int round = 0; round < 400; ++round) {
    const WeightedGraph graph = graph_in_modules(random, 3);
    Program program;
    program.units = {{.operators = {"a"}, .join = true, .tags = {"compute"}}};
    const auto marked = mark_units(program, graph, true);
    ASSERT_TRUE(marked) << marked.error().message;
    expect_units_of(*marked, graph);
    for (std::size_t unit = 0; unit < marked->units.size(); ++unit) {
      for (const std::size_t op : marked->units[unit].operators) {
        EXPECT_EQ(graph.nodes[op].kind == "aten::a", marked->rule_of[unit] == 0U);
      }
    }
  }
}

TEST(MarkUnits, OperatorsThatFollowEachOtherAreJoined) {
  WeightedGraph graph;
  for (std::size_t i = 0; i < 6; ++i) {
    WeightedNode node{.kind = i == 3 ? "aten::b" : "aten::a"};
    if (i > 0) node.after = {i - 1};
    graph.nodes.push_back(std::move(node));
  }
  const auto marked = mark_units({}, graph, false);
  ASSERT_TRUE(marked);
  ASSERT_EQ(marked->units.size(), 1U) << "of no rule";
  EXPECT_EQ(marked->units[0].name, "operators 0 to 5");
  EXPECT_EQ(marked->rule_of[0], kNoRule);
  Program program;
  program.units = {{.operators = {"a"}, .join = true, .tags = {"x"}}};
  const auto joined = mark_units(program, graph, false);
  ASSERT_TRUE(joined);
  ASSERT_EQ(joined->units.size(), 3U);
  EXPECT_THAT(joined->units[0].operators, ElementsAre(0, 1, 2));
  EXPECT_THAT(joined->units[2].operators, ElementsAre(4, 5));
}

TEST(MarkUnits, WeightsGoWithTheirOnlyUser) {
  const auto fetch = [] { return WeightedNode{.kind = "prim::GetAttr"}; };
  WeightedGraph graph{{fetch(), fetch(), WeightedNode{.kind = "aten::a", .after = {0, 1}},
                       WeightedNode{.kind = "aten::b", .after = {1, 2}}, fetch()}};
  Program program;
  program.units = {{.operators = {"a"}, .tags = {"x"}}, {.operators = {"b"}, .tags = {"y"}}};
  const auto marked = mark_units(program, graph, false);
  ASSERT_TRUE(marked) << marked.error().message;
  expect_units_of(*marked, graph);
  std::vector<std::vector<std::size_t>> of_rules;
  for (std::size_t i = 0; i < marked->units.size(); ++i) {
    if (marked->rule_of[i] != kNoRule) of_rules.push_back(marked->units[i].operators);
  }
  EXPECT_THAT(of_rules, ElementsAre(ElementsAre(0, 2), ElementsAre(3)))
      << "one that two units read is a unit of its own";
}

TEST(MarkUnits, ARuleThatMarksNothingIsRefusedUnlessTheGraphIsAPart) {
  const WeightedGraph graph{{WeightedNode{.kind = "aten::a"}}};
  Program program;
  program.units = {{.name = "pooling", .operators = {"b"}, .tags = {"x"}}};
  const auto marked = mark_units(program, graph, false);
  ASSERT_FALSE(marked);
  EXPECT_THAT(marked.error().message, HasSubstr("units[0] (pooling) marks nothing"));
  EXPECT_TRUE(mark_units(program, graph, true));
  EXPECT_THAT(mark_units(program, {}, true)->units, IsEmpty());
}

TEST(MarkUnits, AnOperatorThatTwoRulesMarkIsRefused) {
  const WeightedGraph graph{{WeightedNode{.kind = "aten::a", .scope = "m"}}};
  Program program;
  program.units = {{.modules = {"m"}, .tags = {"x"}},
                   {.name = "second", .operators = {"a"}, .tags = {"y"}}};
  const auto marked = mark_units(program, graph, true);
  ASSERT_FALSE(marked);
  EXPECT_THAT(marked.error().message,
              HasSubstr("units[0] and units[1] (second) both mark operator 0 (aten::a, m)"));
}

}  // namespace
}  // namespace pareto::schedules
