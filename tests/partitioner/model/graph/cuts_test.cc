// Cuts by sets of operators against what crosses them by definition, on graphs that nobody drew.
#include "partitioner/model/graph/cuts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "partitioner/model/graph/groups.h"
#include "partitioner/model/graph/split_points.h"
#include "tests/partitioner/model/graph/hand_made.h"

namespace pareto::model {
namespace {

using test::HandMade;

std::string name_of(std::uint64_t op) { return op == 0 ? "x" : "v" + std::to_string(op); }

/// Each operator reads one or two values before it; one in three values is returned.
Graph random_graph(std::uint64_t operators, std::mt19937_64& random) {
  HandMade made;
  made.input("x", static_cast<std::int64_t>(1 + random() % 9));
  for (std::uint64_t op = 1; op <= operators; ++op) {
    std::vector<std::string> reads;
    for (std::uint64_t more = 1 + random() % 2; more > 0; --more) {
      const std::string read = name_of(random() % op);
      if (reads.empty() || reads.back() != read) reads.push_back(read);
    }
    made.op(name_of(op), "aten::add", "", reads);
    if (op == operators || random() % 3 == 0) made.output(name_of(op));
  }
  return made.graph();
}

/// A set that has, with each operator, all that it needs.
std::vector<std::int64_t> random_ideal(const Graph& graph, std::mt19937_64& random) {
  std::set<std::int64_t> taken;
  const auto needed = needed_by_each(graph);
  for (std::size_t op = 0; op < graph.operators.size(); ++op) {
    const bool ready =
        std::ranges::all_of(needed[op], [&](std::int64_t other) { return taken.contains(other); });
    if (ready && random() % 4 != 0) taken.insert(static_cast<std::int64_t>(op));
  }
  return {taken.begin(), taken.end()};
}

/// Lists values that are made before the cut, and read after it or returned.
std::vector<std::int64_t> crossing(const Graph& graph, const std::set<std::int64_t>& before) {
  if (before.empty()) return graph.inputs;
  if (before.size() == graph.operators.size()) return graph.outputs;
  std::vector<std::int64_t> live;
  for (std::size_t index = 0; index < graph.values.size(); ++index) {
    const GraphValue& value = graph.values[index];
    if (value.producer >= 0 && !before.contains(value.producer)) continue;
    bool wanted = value.is_output;
    for (const std::int64_t user : value.users) wanted = wanted || !before.contains(user);
    if (wanted) live.push_back(static_cast<std::int64_t>(index));
  }
  return live;
}

TEST(Cuts, WhatCrossesIsWhatIsReadBehindThem) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 500; ++i) {
    const Graph graph = random_graph(1 + random() % 12, random);
    const auto operators = random_ideal(graph, random);
    const plan::OperatorRanges before = plan::ranges_of(operators);
    ASSERT_TRUE(check_cut(graph, before)) << i;
    const auto live = live_values(graph, before);
    ASSERT_EQ(live, crossing(graph, {operators.begin(), operators.end()})) << i;
    const auto values = boundary(graph, before);
    ASSERT_EQ(values.size(), live.size());
    std::uint64_t bytes = 0;
    for (std::size_t value = 0; value < live.size(); ++value) {
      ASSERT_EQ(values[value].name, graph.values[static_cast<std::size_t>(live[value])].name);
      bytes += values[value].spec.size_bytes(7).value();
    }
    ASSERT_EQ(boundary_bytes(graph, before, 7).value(), bytes) << i;
  }
}

TEST(Cuts, OfThePrefixesAreThePositions) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100; ++i) {
    const Graph graph = random_graph(1 + random() % 12, random);
    const auto operators = static_cast<std::int64_t>(graph.operators.size());
    for (std::int64_t position = 0; position <= operators; ++position) {
      const plan::OperatorRanges before =
          position == 0 ? plan::OperatorRanges{} : plan::OperatorRanges{{0, position}};
      ASSERT_EQ(live_values(graph, before), live_values(graph, position)) << i;
      ASSERT_EQ(boundary_bytes(graph, before, 3).value(),
                boundary_bytes(graph, position, 3).value());
    }
  }
}

TEST(Cuts, AreRefusedExactlyWhereSomethingIsMissing) {
  std::mt19937_64 random(3);
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    const Graph graph = random_graph(1 + random() % 10, random);
    std::vector<std::int64_t> operators;
    for (std::size_t op = 0; op < graph.operators.size(); ++op) {
      if (random() % 2 == 0) operators.push_back(static_cast<std::int64_t>(op));
    }
    const std::set<std::int64_t> before(operators.begin(), operators.end());
    bool complete = true;
    const auto needed = needed_by_each(graph);
    for (const std::int64_t op : operators) {
      for (const std::int64_t other : needed[static_cast<std::size_t>(op)]) {
        complete = complete && before.contains(other);
      }
    }
    const auto checked = check_cut(graph, plan::ranges_of(operators));
    ASSERT_EQ(checked.has_value(), complete) << i;
    if (!checked) {
      EXPECT_THAT(checked.error().message, testing::HasSubstr("which it needs"));
    }
    refused += complete ? 0 : 1;
  }
  EXPECT_GT(refused, 50);
}

TEST(Cuts, WhatMayNotBePartedIsTakenWholeOrNotAtAll) {
  std::mt19937_64 random(4);
  int parted = 0;
  for (int i = 0; i < 300; ++i) {
    Graph graph = random_graph(4 + random() % 8, random);
    const auto some = [&] { return static_cast<std::int64_t>(random() % graph.operators.size()); };
    graph.groups = inseparable_groups(graph, {{some(), some()}, {some(), some()}});
    std::size_t listed = 0;
    for (const auto& group : graph.groups) listed += group.size();
    ASSERT_EQ(listed, graph.operators.size()) << "each operator is in one group";
    // Whole groups, in their order, are cuts.
    std::vector<std::int64_t> operators;
    for (const auto& group : graph.groups) {
      operators.insert(operators.end(), group.begin(), group.end());
      std::vector<std::int64_t> sorted = operators;
      std::ranges::sort(sorted);
      ASSERT_TRUE(check_cut(graph, plan::ranges_of(sorted))) << i;
      if (group.size() < 2) continue;
      // Without one of the group's last operator they are none.
      std::erase(sorted, group.back());
      ASSERT_FALSE(check_cut(graph, plan::ranges_of(sorted))) << i;
      ++parted;
    }
  }
  EXPECT_GT(parted, 50);
}

TEST(Cuts, OperatorsThatAreNotThereAreRefused) {
  std::mt19937_64 random(5);
  const Graph graph = random_graph(5, random);
  for (const plan::OperatorRanges& none : std::vector<plan::OperatorRanges>{
           {{-1, 2}}, {{0, 6}}, {{2, 2}}, {{3, 1}}, {{0, 1}, {9, 12}}}) {
    const auto checked = check_cut(graph, none);
    ASSERT_FALSE(checked) << to_string(none);
    EXPECT_EQ(checked.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(checked.error().message, testing::HasSubstr("of a model that has 5"));
  }
}

TEST(Cuts, HaveNamesThatTellThemApart) {
  std::mt19937_64 random(6);
  std::set<std::string> names;
  std::set<plan::OperatorRanges> cuts;
  for (int i = 0; i < 500; ++i) {
    std::vector<std::int64_t> operators;
    for (std::int64_t op = 0; op < 8; ++op) {
      if (random() % 2 == 0) operators.push_back(op);
    }
    if (operators.empty()) continue;
    cuts.insert(plan::ranges_of(operators));
    names.insert(cut_name(plan::ranges_of(operators)));
  }
  EXPECT_EQ(names.size(), cuts.size());
}

}  // namespace
}  // namespace pareto::model
