#include "partitioner/planning/search/ideal_costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "partitioner/planning/cost/device_costs.h"
#include "tests/partitioner/model/graph/hand_made.h"

namespace pareto::search {
namespace {

using test::HandMade;

/// Two branches listed in turns, both reading the input; one weight is read in both.
model::Graph short_branches() {
  HandMade made;
  made.input("x", 10).weight("both", 40).weight("right", 4);
  made.op("a", "aten::relu", "", {"x"}, 1, {0}).op("b", "aten::relu", "", {"x"}, 1, {0, 1});
  made.op("c", "aten::mul", "", {"a"}, 1, {0}).op("d", "aten::mul", "", {"b"}, 1, {1});
  made.op("e", "aten::add", "", {"c", "d"}).output("e");
  return made.graph();
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
  const auto found = find_graph_ideals(short_branches(), 1);
  ASSERT_TRUE(found) << found.error().message;
  const auto costs = ideal_costs(profile(), *found);
  const auto row = planning::device_costs(profile(), {0, 1, 2, 3, 4, 5});
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
  const auto found = find_graph_ideals(short_branches(), 1);
  ASSERT_TRUE(found) << found.error().message;
  const auto costs = ideal_costs(profile(), *found);
  const auto row = planning::device_costs(profile(), {0, 1, 2, 3, 4, 5});
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
  const model::Graph graph = short_branches();
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
  const auto shared = shared_weights(short_branches(), {{}, {{0, 1}}, {{0, 3}}, {{0, 5}}});
  ASSERT_EQ(shared.size(), 2U);
  EXPECT_EQ(shared[0], (planning::SharedWeight{4, {0, 0, 1, 2}}));
  EXPECT_EQ(shared[1], (planning::SharedWeight{40, {0, 1, 3, 3}}));
  EXPECT_THAT(shared_weights(short_branches(), {{}, {{0, 4}}, {{0, 5}}}), testing::IsEmpty());
}

TEST(SharedWeights, WithThoseUsedFirstAreAllThatAStageNeeds) {
  const model::Graph graph = short_branches();
  const auto found = find_graph_ideals(graph, 1);
  ASSERT_TRUE(found) << found.error().message;
  planning::DeviceCosts device;
  device.weight_bytes = ideal_weight_bytes(graph, *found);
  device.shared_weights = shared_weights(graph, found->operators);
  for (int begin = 0; begin < static_cast<int>(found->operators.size()); ++begin) {
    for (const int end : found->ideals.ends[static_cast<std::size_t>(begin)]) {
      const plan::OperatorRanges own = stage_operators(*found, begin, end).own;
      const bool both = plan::holds(own, 0) || plan::holds(own, 1) || plan::holds(own, 2);
      const bool right = plan::holds(own, 1) || plan::holds(own, 3);
      EXPECT_EQ(planning::stage_memory_bytes(device, begin, end), (both ? 40 : 0) + (right ? 4 : 0))
          << to_string(own);
    }
  }
}

/// Operators that read one or two values before them, and weights that some share.
model::Graph random_graph(int operators, std::mt19937_64& random) {
  HandMade made;
  made.input("x", 10);
  for (int weight = 0; weight < 6; ++weight) {
    made.weight("w" + std::to_string(weight), 4 * (1 + static_cast<std::int64_t>(random() % 50)));
  }
  const auto name = [](std::uint64_t op) { return op == 0 ? "x" : "v" + std::to_string(op); };
  std::vector<bool> read(static_cast<std::size_t>(operators) + 1, false);
  for (int op = 1; op <= operators; ++op) {
    const auto near = static_cast<std::uint64_t>(std::min(op, 3));
    std::vector<std::string> inputs;
    for (std::uint64_t more = 1 + random() % 2; more > 0; --more) {
      const std::uint64_t from = static_cast<std::uint64_t>(op) - 1 - random() % near;
      inputs.push_back(name(from));
      read[from] = true;
    }
    std::vector<std::int64_t> weights;
    for (std::int64_t weight = 0; weight < 6; ++weight) {
      if (random() % 4 == 0) weights.push_back(weight);
    }
    made.op(name(static_cast<std::uint64_t>(op)), "aten::mul", "", inputs, 1, weights);
  }
  for (int op = 1; op <= operators; ++op) {
    if (!read[static_cast<std::size_t>(op)]) made.output(name(static_cast<std::uint64_t>(op)));
  }
  return made.graph();
}

/// Each weight that the stage's operators use, once.
std::int64_t plain_bytes(const model::Graph& graph, const plan::OperatorRanges& own) {
  std::vector<bool> used(graph.weights.size(), false);
  for (const std::int64_t op : operators_in(own)) {
    for (const std::int64_t weight : graph.operators[static_cast<std::size_t>(op)].weights) {
      used[static_cast<std::size_t>(weight)] = true;
    }
  }
  std::int64_t bytes = 0;
  for (std::size_t weight = 0; weight < used.size(); ++weight) {
    if (used[weight]) bytes += static_cast<std::int64_t>(graph.weights[weight].size_bytes);
  }
  return bytes;
}

TEST(SharedWeights, AreHeldByEveryStageOfRandomGraphs) {
  std::mt19937_64 random(111);
  int stages = 0;
  for (int i = 0; i < 40; ++i) {
    const model::Graph graph = random_graph(4 + static_cast<int>(random() % 6), random);
    const auto found = find_graph_ideals(graph, 1);
    ASSERT_TRUE(found) << found.error().message;
    planning::DeviceCosts device;
    device.weight_bytes = ideal_weight_bytes(graph, *found);
    device.shared_weights = shared_weights(graph, found->operators);
    for (int begin = 0; begin < static_cast<int>(found->operators.size()); ++begin) {
      for (const int end : found->ideals.ends[static_cast<std::size_t>(begin)]) {
        const plan::OperatorRanges own = stage_operators(*found, begin, end).own;
        ASSERT_EQ(planning::stage_memory_bytes(device, begin, end), plain_bytes(graph, own))
            << "graph " << i << ": " << to_string(own);
        ++stages;
      }
    }
  }
  EXPECT_GT(stages, 500);
}

TEST(IdealCosts, TakeWhatTheirOperatorsTakeInTheOrderOfTheModel) {
  std::mt19937_64 random(112);
  for (int i = 0; i < 40; ++i) {
    const int operators = 4 + static_cast<int>(random() % 6);
    const auto found = find_graph_ideals(random_graph(operators, random), 1);
    ASSERT_TRUE(found) << found.error().message;
    plan::DeviceProfile measured = profile();
    measured.operators.clear();
    for (int op = 0; op < operators; ++op) measured.operators.emplace_back(1 + random() % 90);
    measured.shards = {{0, operators, Nanoseconds(700), Nanoseconds(500), 0}};
    const auto costs = ideal_costs(measured, *found);
    ASSERT_TRUE(costs) << costs.error().message;
    EXPECT_EQ(costs->compute.front().count(), 0);
    EXPECT_EQ(costs->compute.back().count(), 700 - 0);
    for (std::size_t set = 0; set < found->operators.size(); ++set) {
      for (const int end : found->ideals.ends[set]) {
        // More operators take no less, and never more than all.
        EXPECT_LE(costs->compute[set], costs->compute[static_cast<std::size_t>(end)]);
        EXPECT_LE(costs->compute[static_cast<std::size_t>(end)], costs->compute.back());
      }
    }
  }
}

}  // namespace
}  // namespace pareto::search
