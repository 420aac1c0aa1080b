// The search for any criteria where another, which shares little with it, finds the same front: on
// instances too large for the exhaustive one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partitioner/planning/search/search_strategy.h"
#include "partitioner/planning/search/strategies.h"
#include "tests/support/front_agreement.h"
#include "tests/support/objectives.h"
#include "tests/support/random_costs.h"

namespace pareto::search {
namespace {

using test::RandomCosts;

TEST(Labels, OfTwoObjectivesAgreeWithThresholds) {
  std::mt19937_64 random(101);
  for (int i = 0; i < 40; ++i) {
    RandomCosts of_all = test::random_options(random, 5, 25, 10);
    of_all.media = 0;
    of_all.cards = 0;
    const planning::CostInputs inputs = test::random_costs(of_all, random);
    const auto thresholds = exact_search()->search(inputs, {});
    const auto labels = label_search()->search(inputs, {});
    ASSERT_TRUE(thresholds && labels) << i;
    ASSERT_EQ(test::difference(*labels, *thresholds), "") << i;
    ASSERT_EQ(test::flaw(*labels, inputs, {}), "") << i;
  }
}

TEST(Labels, OfAModelsSizeAgreeWithThresholds) {
  const planning::CostInputs inputs = test::model_like_costs(4, 80, 3);
  const auto thresholds = exact_search()->search(inputs, {});
  const auto labels = label_search()->search(inputs, {});
  ASSERT_TRUE(thresholds && labels);
  EXPECT_EQ(test::difference(*labels, *thresholds), "");
}

TEST(Labels, WithAMediumForEachLinkFindTheSameFront) {
  std::mt19937_64 random(102);
  for (int i = 0; i < 20; ++i) {
    RandomCosts options;
    options.devices = 4;
    options.positions = 15;
    planning::CostInputs inputs = test::random_costs(options, random);
    const auto without = exact_search()->search(inputs, {});
    for (auto& row : inputs.links) {
      for (planning::LinkCosts& link : row) link.media = {{inputs.media++}};
    }
    const auto with = label_search()->search(inputs, {});
    ASSERT_TRUE(without && with) << i;
    ASSERT_EQ(test::difference(*with, *without), "") << i;
  }
}

TEST(Labels, AnotherObjectiveOnlyAddsPoints) {
  std::mt19937_64 random(103);
  for (int i = 0; i < 20; ++i) {
    RandomCosts options;
    options.devices = 4;
    options.positions = 15;
    const planning::CostInputs inputs = test::random_costs(options, random);
    const auto two = label_search()->search(inputs, {});
    for (const planning::Objective* const third : planning::searched_objectives()) {
      SearchOptions with;
      with.also = {third};
      const auto three = label_search()->search(inputs, with);
      ASSERT_TRUE(two && three) << i;
      for (const FrontPoint& point : *two) {
        ASSERT_TRUE(std::ranges::any_of(*three, [&](const FrontPoint& other) {
          return other.point == point.point;
        })) << i;
      }
    }
  }
}

TEST(Labels, WithAsManyComparisonsAsTheyTakeAreNotGivenUp) {
  std::mt19937_64 random(104);
  RandomCosts options;
  options.devices = 4;
  options.positions = 10;
  options.media = 3;
  const planning::CostInputs inputs = test::random_costs(options, random);
  SearchOptions limit;
  limit.also = {&test::objective("energy")};
  const auto whole = label_search()->search(inputs, limit);
  ASSERT_TRUE(whole) << whole.error().message;
  // Whatever the limit: the whole front, or none and why.
  bool gave_up = false;
  for (limit.comparisons = 1; limit.comparisons < 100'000'000; limit.comparisons *= 10) {
    const auto front = label_search()->search(inputs, limit);
    if (front) {
      EXPECT_EQ(test::difference(*front, *whole), "") << limit.comparisons;
    } else {
      EXPECT_EQ(front.error().code, ErrorCode::kExhausted);
      gave_up = true;
    }
  }
  EXPECT_TRUE(gave_up);
}

}  // namespace
}  // namespace pareto::search
