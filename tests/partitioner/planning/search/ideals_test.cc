#include "partitioner/planning/search/ideals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "partitioner/planning/search/strategies.h"
#include "tests/support/front_agreement.h"
#include "tests/support/objectives.h"

namespace pareto::search {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// 0 feeds 1 and 2, both feed 3: each value has ten times its producer's number, plus one, as
/// bytes.
DataFlow diamond() {
  DataFlow flow;
  flow.operators = 4;
  flow.values = {{-1, {0}, 100, false},
                 {0, {1, 2}, 1, false},
                 {1, {3}, 11, false},
                 {2, {3}, 21, false},
                 {3, {}, 31, true}};
  return flow;
}

TEST(Ideals, OfADiamond) {
  const auto ideals = find_ideals(diamond());
  ASSERT_TRUE(ideals);
  // {}, {0}, {0 1} and {0 2}, {0 1 2}, all.
  ASSERT_EQ(ideals->sets.size(), 6U);
  EXPECT_THAT(ideals->boundary_bytes, ElementsAre(100, 1, 12, 22, 32, 31));
  EXPECT_THAT(ideals->ends[0], ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(ideals->ends[2], ElementsAre(4, 5));
  EXPECT_THAT(ideals->ends[5], IsEmpty());
  EXPECT_THAT(ideals->sums<std::int64_t>({1, 10, 100, 1000}),
              ElementsAre(0, 1, 11, 101, 111, 1111));
  EXPECT_THAT(operators_between(*ideals, 2, 5), ElementsAre(2, 3));
}

TEST(Ideals, OfAChainAreItsPositions) {
  DataFlow flow;
  flow.operators = 70;
  for (int i = 0; i + 1 < flow.operators; ++i) flow.values.push_back({i, {i + 1}, 1, false});
  const auto ideals = find_ideals(flow);
  ASSERT_TRUE(ideals);
  EXPECT_EQ(ideals->sets.size(), 71U);
}

TEST(Ideals, TooManyAreRefused) {
  DataFlow flow;
  flow.operators = 30;  // that do not depend on each other
  const auto ideals = find_ideals(flow, 1000);
  ASSERT_FALSE(ideals);
  EXPECT_EQ(ideals.error().code, ErrorCode::kExhausted);
}

TEST(Ideals, OfWhatIsNoGraphAreRefused) {
  DataFlow flow = diamond();
  flow.values[2].readers = {1};
  EXPECT_FALSE(find_ideals(flow));
  flow.values[2].readers = {4};
  EXPECT_FALSE(find_ideals(flow));
}

/// Branches that part and meet again.
DataFlow random_flow(int operators, std::mt19937_64& random) {
  DataFlow flow;
  flow.operators = operators;
  for (int i = 0; i < operators; ++i) flow.values.push_back({i, {}, 0, i + 1 == operators});
  for (int i = 1; i < operators; ++i) {
    // From one of the three before it, and sometimes from two.
    for (std::uint64_t more = random() % 2; more < 2; ++more) {
      const int from = std::max(0, i - 1 - static_cast<int>(random() % 3));
      std::vector<int>& readers = flow.values[static_cast<std::size_t>(from)].readers;
      if (readers.empty() || readers.back() != i) readers.push_back(i);
    }
  }
  for (DataFlow::Value& value : flow.values) value.bytes = static_cast<std::int64_t>(random() % 50);
  flow.values.push_back({-1, {0}, 20, false});
  return flow;
}

planning::CostInputs random_costs_of(const Ideals& ideals, int devices, std::mt19937_64& random) {
  const std::size_t operators = ideals.sets.front().size();
  planning::CostInputs inputs;
  inputs.boundary_bytes = ideals.boundary_bytes;
  inputs.legal.assign(ideals.sets.size(), true);
  inputs.ends = ideals.ends;
  for (int d = 0; d < devices; ++d) {
    std::vector<Nanoseconds> times;
    std::vector<std::int64_t> weights;
    std::vector<int> users;
    for (std::size_t i = 0; i < operators; ++i) {
      times.emplace_back(random() % 100);
      weights.push_back(static_cast<std::int64_t>(random() % 100));
      users.push_back(static_cast<int>(random() % 2));
    }
    planning::DeviceCosts device;
    device.compute = ideals.sums(times);
    device.weight_bytes = ideals.sums(weights);
    device.shared_weights = {{static_cast<std::int64_t>(random() % 200), ideals.sums(users)}};
    for (std::size_t i = 0; i < ideals.sets.size(); ++i) {
      const planning::SharedWeight& shared = device.shared_weights.front();
      if (shared.uses[i] > 0) device.weight_bytes[i] += shared.bytes;
      device.crossing_bytes.push_back(static_cast<std::int64_t>(random() % 50));
    }
    if (random() % 3 == 0) device.memory_limit_bytes = device.weight_bytes.back() / 2;
    device.figures["power"] = static_cast<std::int64_t>(random() % 10);
    inputs.devices.push_back(std::move(device));
  }
  planning::LinkCosts link;
  link.bytes_per_second = 1e9;
  link.delay = Nanoseconds(random() % 20);
  inputs.links.assign(inputs.devices.size() + 1, std::vector(inputs.devices.size() + 1, link));
  return inputs;
}

class OverIdeals : public testing::TestWithParam<const SearchStrategy*> {};

TEST_P(OverIdeals, AgreesWithTheExhaustiveSearch) {
  std::mt19937_64 random(5);
  const auto choices = test::singles_and_pairs();
  for (int i = 0; i < 300; ++i) {
    const auto ideals = find_ideals(random_flow(4 + static_cast<int>(random() % 8), random));
    ASSERT_TRUE(ideals) << ideals.error().message;
    const planning::CostInputs inputs =
        random_costs_of(*ideals, 2 + static_cast<int>(random() % 2), random);
    SearchOptions options;
    if (i % 3 > 0) options.also = choices[static_cast<std::size_t>(i) % choices.size()];
    const auto expected = exhaustive_search()->search(inputs, options);
    const auto front = GetParam()->search(inputs, options);
    ASSERT_TRUE(expected) << expected.error().message;
    ASSERT_TRUE(front) << front.error().message;
    ASSERT_EQ(test::difference(*front, *expected), "") << "instance " << i;
    ASSERT_EQ(test::flaw(*front, inputs, options), "") << "instance " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, OverIdeals, testing::ValuesIn(builtin_searches()),
                         [](const auto& each) { return std::string(each.param->name()); });

TEST(Ideals, LetBranchesGoToDifferentDevices) {
  // One branch suits one device, the other the other; the model lists them in turns, so that no
  // prefix parts them.
  DataFlow flow;
  flow.operators = 6;
  flow.values = {{0, {1, 2}, 1, false}, {1, {3}, 1, false}, {2, {4}, 1, false},
                 {3, {5}, 1, false},    {4, {5}, 1, false}, {5, {}, 1, true}};
  const auto ideals = find_ideals(flow);
  ASSERT_TRUE(ideals);
  planning::CostInputs inputs;
  inputs.boundary_bytes = ideals->boundary_bytes;
  inputs.legal.assign(ideals->sets.size(), true);
  inputs.ends = ideals->ends;
  const std::vector<std::vector<int>> times{{1, 1, 90, 1, 90, 90}, {90, 90, 1, 90, 1, 1}};
  for (const auto& of_device : times) {
    planning::DeviceCosts device;
    device.compute = ideals->sums(std::vector<Nanoseconds>(of_device.begin(), of_device.end()));
    inputs.devices.push_back(std::move(device));
  }
  inputs.links.assign(3, std::vector<planning::LinkCosts>(3));
  SearchOptions options;
  options.windows = {1, 1};
  const auto front = exact_search()->search(inputs, options);
  ASSERT_TRUE(front) << front.error().message;
  ASSERT_EQ(front->size(), 1U);
  EXPECT_EQ(front->front().point.latency.count(), 6);
  const auto& stages = front->front().placement.stages;
  ASSERT_EQ(stages.size(), 2U);
  EXPECT_THAT(operators_between(*ideals, stages[0].begin, stages[0].end), ElementsAre(0, 1, 3));
  EXPECT_THAT(operators_between(*ideals, stages[1].begin, stages[1].end), ElementsAre(2, 4, 5));
}

}  // namespace
}  // namespace pareto::search
