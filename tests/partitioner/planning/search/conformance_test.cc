// Every strategy of the builtin list against the exhaustive one.
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
using test::sized_costs;

class Conformance : public testing::TestWithParam<const SearchStrategy*> {
 protected:
  /// Compares on `count` instances that `make` makes.
  template <typename Make>
  static void expect_agreement(int count, const SearchOptions& options, Make make) {
    std::mt19937_64 random(20);
    std::size_t largest = 0;
    for (int i = 0; i < count; ++i) {
      const planning::CostInputs inputs = make(random);
      const auto expected = exhaustive_search()->search(inputs, options);
      const auto front = GetParam()->search(inputs, options);
      ASSERT_TRUE(expected) << expected.error().message;
      ASSERT_TRUE(front) << front.error().message;
      ASSERT_EQ(test::difference(*front, *expected), "") << "instance " << i;
      ASSERT_EQ(test::flaw(*front, inputs, options), "") << "instance " << i;
      largest = std::max(largest, front->size());
    }
    EXPECT_GT(largest, 1U) << "instances too easy to tell anything";
  }

  static void expect_agreement(int count, const SearchOptions& options, const RandomCosts& costs) {
    expect_agreement(count, options,
                     [&](std::mt19937_64& random) { return test::random_costs(costs, random); });
  }
};

SearchOptions searched_by(const std::string& also) {
  SearchOptions options;
  if (!also.empty()) options.also = {&test::objective(also)};
  return options;
}

TEST_P(Conformance, OnInstancesOfAllKinds) {
  expect_agreement(2000, {}, [](std::mt19937_64& random) {
    return test::random_costs(test::random_options(random, 4, 12), random);
  });
}

TEST_P(Conformance, OnLongerModels) {
  expect_agreement(200, {}, sized_costs(2, 30));
  expect_agreement(100, {}, sized_costs(3, 30));
  expect_agreement(20, {}, sized_costs(4, 18));
}

TEST_P(Conformance, WithFewDifferentTimes) {
  RandomCosts options = sized_costs(3, 14);
  options.largest_time = 3;
  expect_agreement(300, {}, options);
}

TEST_P(Conformance, WithManyWindows) {
  RandomCosts options = sized_costs(3, 14);
  options.delays = 100;
  expect_agreement(300, {}, options);
}

TEST_P(Conformance, WithProcessorTimeOfMessages) {
  RandomCosts options = sized_costs(3, 14);
  options.processor = 1;
  expect_agreement(300, {}, options);
}

TEST_P(Conformance, WithCodecsAndTransportsToChooseFrom) {
  RandomCosts of_all = sized_costs(3, 9);
  of_all.codecs = 0.7;
  of_all.processor = 0.5;
  expect_agreement(300, {}, of_all);
  of_all.identical = 0.7;
  of_all.measured = 0.7;
  of_all.positions = 6;
  for (const char* const also : {"", "energy", "memory"}) {
    const SearchOptions options = searched_by(also);
    expect_agreement(300, options, of_all);
  }
}

TEST_P(Conformance, WithIdenticalDevices) {
  RandomCosts options = sized_costs(4, 12);
  options.identical = 0.7;
  expect_agreement(200, {}, options);
}

TEST_P(Conformance, WithMemoryLimitsAndPins) {
  RandomCosts options = sized_costs(4, 12);
  options.limited = 0.8;
  options.pinned = 0.5;
  options.missing = 0.1;
  expect_agreement(200, {}, options);
}

TEST_P(Conformance, WithWeightsThatSeveralStagesHold) {
  RandomCosts of_all = sized_costs(3, 10);
  of_all.shared = 0.8;
  of_all.limited = 0.5;
  of_all.identical = 0.3;
  for (const char* const also : {"", "memory"}) {
    const SearchOptions options = searched_by(also);
    expect_agreement(300, options, of_all);
  }
}

TEST_P(Conformance, WithEveryOtherObjectiveAloneAndInPairs) {
  for (const AlsoObjectives& also : test::singles_and_pairs()) {
    SCOPED_TRACE(std::string(also.front()->name) + " and " + std::string(also.back()->name));
    SearchOptions options;
    options.also = also;
    const bool of_codecs = std::ranges::any_of(
        also, [](const planning::Objective* one) { return one->searched->of_hop != nullptr; });
    expect_agreement(also.size() == 1 ? 300 : 150, options, [&](std::mt19937_64& random) {
      RandomCosts of_all = test::random_options(random, also.size() == 1 ? 4 : 3, 10);
      if (of_codecs) {
        of_all.codecs = 0.5;
        of_all.devices = std::min(of_all.devices, 3);
      }
      return test::random_costs(of_all, random);
    });
  }
}

TEST_P(Conformance, WithManyObjectives) {
  SearchOptions options;
  options.also = planning::searched_objectives();
  expect_agreement(60, options, [&](std::mt19937_64& random) {
    RandomCosts of_all = test::random_options(random, 3, 7);
    of_all.media = 1;
    return test::random_costs(of_all, random);
  });
}

TEST_P(Conformance, RefusesAnObjectiveThatStandsTwiceOrIsNoneToSearchBy) {
  std::mt19937_64 random(27);
  const planning::CostInputs inputs = test::random_costs(sized_costs(3, 6), random);
  for (const AlsoObjectives& also :
       {AlsoObjectives{&test::objective("memory"), &test::objective("memory")},
        AlsoObjectives{&test::objective("latency_p90")}}) {
    SearchOptions options;
    options.also = also;
    const auto front = GetParam()->search(inputs, options);
    ASSERT_FALSE(front);
    EXPECT_EQ(front.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST_P(Conformance, WithSharedMedia) {
  for (const int media : {1, 2}) {
    for (const char* const also : {"", "energy"}) {
      SearchOptions options = searched_by(also);
      expect_agreement(200, options, [&](std::mt19937_64& random) {
        RandomCosts of_all = test::random_options(random, 4, 10);
        of_all.media = media;
        return test::random_costs(of_all, random);
      });
    }
  }
}

TEST_P(Conformance, WithMediaOfEachDevice) {
  for (const int media : {0, 1, 2}) {
    for (const char* const also : {"", "memory"}) {
      const SearchOptions options = searched_by(also);
      expect_agreement(150, options, [&](std::mt19937_64& random) {
        RandomCosts of_all = test::random_options(random, 4, 10);
        of_all.media = media;
        of_all.cards = media == 0 ? 1 : 0.5;
        return test::random_costs(of_all, random);
      });
    }
  }
}

TEST_P(Conformance, WithAsManyMediaAsThereMayBe) {
  const SearchOptions options = searched_by("energy");
  expect_agreement(50, options, [&](std::mt19937_64& random) {
    RandomCosts of_all = test::random_options(random, 3, 8);
    of_all.media = 4;
    of_all.cards = 0.5;
    return test::random_costs(of_all, random);
  });
}

TEST_P(Conformance, OnGrids) {
  // Long enough for the coarse grids of a search.
  expect_agreement(30, {}, sized_costs(2, 70));
  const SearchOptions options = searched_by("energy");
  expect_agreement(10, options, sized_costs(2, 70));
}

TEST_P(Conformance, WithinARangeOfWindows) {
  for (const planning::WindowRange windows :
       {planning::WindowRange{1, 1}, {1, 3}, {3, 5}, {4, 4}}) {
    SearchOptions options;
    options.windows = windows;
    options.replicas = false;
    std::mt19937_64 random(21);
    for (int i = 0; i < 200; ++i) {
      const planning::CostInputs inputs = test::random_costs(sized_costs(3, 12), random);
      const auto expected = exhaustive_search()->search(inputs, options);
      const auto front = GetParam()->search(inputs, options);
      ASSERT_TRUE(expected && front);
      ASSERT_EQ(test::difference(*front, *expected), "") << "instance " << i;
      ASSERT_EQ(test::flaw(*front, inputs, options), "") << "instance " << i;
    }
  }
}

TEST_P(Conformance, WhereNothingFits) {
  std::mt19937_64 random(22);
  planning::CostInputs inputs = test::random_costs(sized_costs(3, 6), random);
  for (planning::DeviceCosts& device : inputs.devices) device.memory_limit_bytes = 0;
  const auto front = GetParam()->search(inputs, {});
  ASSERT_TRUE(front);
  EXPECT_TRUE(front->empty());
}

TEST_P(Conformance, WherePlansTakeNoTime) {
  planning::CostInputs inputs;
  inputs.boundary_bytes = {0, 0, 0};
  inputs.legal = {true, true, true};
  inputs.devices.resize(2);
  for (planning::DeviceCosts& device : inputs.devices) device.compute.assign(3, Nanoseconds(0));
  inputs.links.assign(3, std::vector<planning::LinkCosts>(3));
  SearchOptions options;
  options.replicas = false;
  const auto front = GetParam()->search(inputs, options);
  ASSERT_TRUE(front) << front.error().message;
  EXPECT_EQ(test::flaw(*front, inputs, options), "");
  ASSERT_EQ(front->size(), 1U);
  EXPECT_EQ(front->front().point, (planning::OperatingPoint{Nanoseconds(1), 1}));
}

TEST_P(Conformance, RefusesInputsThatAreNone) {
  const auto code = [](const planning::CostInputs& inputs, const SearchOptions& options) {
    const auto front = GetParam()->search(inputs, options);
    return front ? ErrorCode::kInternal : front.error().code;
  };
  EXPECT_EQ(code({}, {}), ErrorCode::kInvalidArgument);
  std::mt19937_64 random(23);
  const planning::CostInputs inputs = test::random_costs(sized_costs(3, 6), random);
  SearchOptions options;
  options.windows = {2, 1};
  EXPECT_EQ(code(inputs, options), ErrorCode::kInvalidArgument);
  options.windows = {0, 1};
  EXPECT_EQ(code(inputs, options), ErrorCode::kInvalidArgument);
  options.windows = {1, planning::kLargestSearchedWindow + 1};
  EXPECT_EQ(code(inputs, options), ErrorCode::kInvalidArgument);
}

TEST_P(Conformance, RefusesMoreDevicesThanItCanSearch) {
  // Of 64 different ones the usages are more than a number can count.
  for (const int devices : {24, 64}) {
    for (const char* const also : {"", "energy"}) {
      SearchOptions options = searched_by(also);
      options.replicas = false;
      const auto front = GetParam()->search(test::model_like_costs(devices, 12, 1), options);
      ASSERT_FALSE(front) << devices;
      EXPECT_EQ(front.error().code, ErrorCode::kExhausted);
      EXPECT_THAT(front.error().message,
                  testing::AllOf(testing::HasSubstr(std::to_string(devices) + " devices"),
                                 testing::HasSubstr("leave devices out")));
    }
  }
}

TEST_P(Conformance, RefusesThemWhereNothingLeadsToAnyToo) {
  planning::CostInputs inputs = test::model_like_costs(64, 12, 1);
  for (auto& row : inputs.links) {
    for (planning::LinkCosts& link : row) link.usable = false;
  }
  const auto front = GetParam()->search(inputs, {});
  ASSERT_FALSE(front);
  EXPECT_EQ(front.error().code, ErrorCode::kExhausted);
}

INSTANTIATE_TEST_SUITE_P(All, Conformance, testing::ValuesIn(builtin_searches()),
                         [](const auto& each) { return std::string(each.param->name()); });

}  // namespace
}  // namespace pareto::search
