#include "partitioner/planning/search/replicas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "partitioner/planning/search/strategies.h"
#include "tests/support/front_agreement.h"
#include "tests/support/objectives.h"
#include "tests/support/random_costs.h"

namespace pareto::search {
namespace {

/// Returns the points of replicas if there are no pipelines next to them.
Expected<std::vector<FrontPoint>> replicas_alone(const planning::CostInputs& inputs,
                                                 const SearchOptions& options = {}) {
  PointFront front(options.windows, options.also);
  std::vector<planning::Placement> witnesses;
  PARETO_TRY(add_replicas(inputs, options, front, witnesses));
  return with_placements(front, witnesses, inputs, options);
}

TEST(Replicas, OfAlikeDevicesAreAsManyAsThereAre) {
  std::mt19937_64 random(10);
  test::RandomCosts options;
  options.devices = 20;
  options.identical = 1;
  const planning::CostInputs inputs = test::random_costs(options, random);
  const auto replicas = replicas_alone(inputs);
  ASSERT_TRUE(replicas) << replicas.error().message;
  std::size_t most = 0;
  for (const FrontPoint& point : *replicas) {
    most = std::max(most, point.placement.stages.size());
  }
  EXPECT_EQ(most, 20U);
}

TEST(Replicas, OfManyDifferentDevicesAreThoseOfAllChoices) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const planning::CostInputs inputs = test::model_like_costs(10, 2, seed);
    const auto expected = exhaustive_search()->search(inputs, {});
    const auto front = exact_search()->search(inputs, {});
    ASSERT_TRUE(expected && front);
    EXPECT_EQ(test::difference(*front, *expected), "");
  }
}

TEST(Replicas, EachTakesItsOwnWayOnEveryLink) {
  planning::CostInputs inputs = test::model_like_costs(2, 3, 1);
  inputs.links[2][0].codecs = {{}, {"half", {0.5, 0, 0, 10}}};
  const auto front = replicas_alone(inputs);
  ASSERT_TRUE(front);
  ASSERT_FALSE(front->empty());
  for (const FrontPoint& point : *front) {
    EXPECT_THAT(point.placement.codecs, testing::ElementsAre(1, 0, 0, 0));
  }
  SearchOptions lossless;
  lossless.also = {&test::objective("loss")};
  const auto both = replicas_alone(inputs, lossless);
  ASSERT_TRUE(both);
  EXPECT_TRUE(
      std::ranges::any_of(*both, [](const FrontPoint& point) { return point.also[0] == 0; }));
  EXPECT_TRUE(
      std::ranges::any_of(*both, [](const FrontPoint& point) { return point.also[0] > 0; }));
}

TEST(Replicas, OfDevicesThatCannotBeComparedAreRefusedWhereTheyAreTooMany) {
  std::mt19937_64 random(11);
  test::RandomCosts costs;
  costs.devices = 40;
  costs.media = 2;
  SearchOptions options;
  options.also = {&test::objective("energy")};
  costs.largest_time = 100'000;
  const auto replicas = replicas_alone(test::random_costs(costs, random), options);
  ASSERT_FALSE(replicas);
  EXPECT_EQ(replicas.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(replicas.error().message, testing::HasSubstr("40 devices"));
}

}  // namespace
}  // namespace pareto::search
