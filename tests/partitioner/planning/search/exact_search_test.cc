// What the exact search does with instances that no other can look through.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partitioner/planning/search/search_strategy.h"
#include "partitioner/planning/search/strategies.h"
#include "tests/support/front_agreement.h"
#include "tests/support/random_costs.h"

namespace pareto::search {
namespace {

using test::RandomCosts;
using test::sized_costs;

TEST(Exact, SaysWhatToLeaveOutOfTooManyMedia) {
  std::mt19937_64 random(25);
  RandomCosts options = sized_costs(4, 6);
  options.media = 5;
  const auto front = exact_search()->search(test::random_costs(options, random), {});
  ASSERT_FALSE(front);
  EXPECT_EQ(front.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(front.error().message,
              testing::AllOf(testing::HasSubstr("4 devices have 5 names under `medium`"),
                             testing::HasSubstr("leave devices out, or names")));
}

TEST(Exact, GivesUpWhereTooMuchHasToBeCompared) {
  std::mt19937_64 random(26);
  RandomCosts options = sized_costs(4, 10);
  options.media = 3;
  const planning::CostInputs inputs = test::random_costs(options, random);
  SearchOptions few;
  few.comparisons = 10;
  const auto front = exact_search()->search(inputs, few);
  ASSERT_FALSE(front);
  EXPECT_EQ(front.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(front.error().message, testing::HasSubstr("or names under `medium`"));
  EXPECT_TRUE(exact_search()->search(inputs, {}));
}

TEST(Exact, AnyNumberOfDevicesMayHaveAMediumAlone) {
  planning::CostInputs inputs = test::model_like_costs(8, 12, 1);
  const auto without = exact_search()->search(inputs, {});
  ASSERT_TRUE(without);
  inputs.media = 8;
  for (std::size_t device = 0; device < 8; ++device) {
    for (std::size_t other = 0; other < inputs.links.size(); ++other) {
      if (other == device) continue;
      inputs.links[device][other].media.push_back({static_cast<int>(device)});
      inputs.links[other][device].media.push_back({static_cast<int>(device)});
    }
  }
  const auto front = exact_search()->search(inputs, {});
  ASSERT_TRUE(front) << front.error().message;
  EXPECT_EQ(test::flaw(*front, inputs, {}), "");
  EXPECT_EQ(front->front().point.latency, without->front().point.latency);
}

TEST(Exact, AlikeDevicesAreCounted) {
  std::mt19937_64 random(24);
  RandomCosts options = sized_costs(40, 12);
  options.identical = 1;
  const planning::CostInputs inputs = test::random_costs(options, random);
  const auto front = exact_search()->search(inputs, {});
  ASSERT_TRUE(front) << front.error().message;
  EXPECT_EQ(test::flaw(*front, inputs, {}), "");
}

TEST(Exact, FindsAFrontOfAModelsSize) {
  // 1e17 placements.
  const planning::CostInputs inputs = test::model_like_costs(8, 200, 1);
  const auto front = exact_search()->search(inputs, {});
  ASSERT_TRUE(front) << front.error().message;
  EXPECT_EQ(test::flaw(*front, inputs, {}), "");
  EXPECT_GT(front->size(), 3U);
}

/// Returns whether some point of `front` is at least as good as `point`.
bool met(const std::vector<FrontPoint>& front, const FrontPoint& point) {
  return std::ranges::any_of(front, [&](const FrontPoint& other) {
    return other.point.latency <= point.point.latency && other.also <= point.also &&
           static_cast<double>(other.point.window) * to_nanoseconds(point.point.latency) >=
               static_cast<double>(point.point.window) * to_nanoseconds(other.point.latency) *
                   (1 - 1e-12);
  });
}

/// Searches both and compares: every plan of the smaller space is one of the larger.
void expect_no_worse(const planning::CostInputs& more, const planning::CostInputs& less,
                     int instance) {
  const auto large = exact_search()->search(more, {});
  const auto small = exact_search()->search(less, {});
  ASSERT_TRUE(large && small);
  for (const FrontPoint& point : *small) {
    ASSERT_TRUE(met(*large, point))
        << "instance " << instance << ": " << point.point.latency.count() << " ns at window "
        << point.point.window;
  }
}

TEST(Exact, AnotherDeviceMakesNoFrontWorse) {
  std::mt19937_64 random(27);
  for (int i = 0; i < 30; ++i) {
    const planning::CostInputs more = test::random_costs(sized_costs(6, 30), random);
    planning::CostInputs less = more;
    less.devices.pop_back();
    less.links.erase(less.links.end() - 2);
    for (auto& row : less.links) row.erase(row.end() - 2);
    expect_no_worse(more, less, i);
  }
}

TEST(Exact, AnotherPlaceToCutMakesNoFrontWorse) {
  std::mt19937_64 random(28);
  for (int i = 0; i < 30; ++i) {
    const planning::CostInputs more = test::random_costs(sized_costs(5, 30), random);
    planning::CostInputs less = more;
    for (std::size_t position = 1; position < 30; position += 1 + random() % 3) {
      less.legal[position] = false;
    }
    expect_no_worse(more, less, i);
  }
}

TEST(Exact, AnotherLinkOrCodecOrMoreMemoryMakesNoFrontWorse) {
  std::mt19937_64 random(29);
  for (int i = 0; i < 30; ++i) {
    RandomCosts options = sized_costs(5, 25);
    options.codecs = 0.5;
    const planning::CostInputs more = test::random_costs(options, random);
    planning::CostInputs less = more;
    for (auto& row : less.links) {
      for (planning::LinkCosts& link : row) {
        if (link.codecs.size() > 1 && random() % 2 == 0) link.codecs.pop_back();
        link.usable = link.usable && random() % 8 != 0;
      }
    }
    for (planning::DeviceCosts& device : less.devices) {
      if (random() % 2 == 0) device.memory_limit_bytes = device.weight_bytes.back() / 2;
    }
    expect_no_worse(more, less, i);
  }
}

TEST(Exact, SlowerMakesNoFrontBetter) {
  std::mt19937_64 random(30);
  for (int i = 0; i < 30; ++i) {
    const planning::CostInputs fast = test::random_costs(sized_costs(4, 25), random);
    planning::CostInputs slow = fast;
    for (auto& row : slow.links) {
      for (planning::LinkCosts& link : row) link.delay += Nanoseconds(random() % 50);
    }
    for (planning::DeviceCosts& device : slow.devices)
      device.overhead += Nanoseconds(random() % 50);
    expect_no_worse(fast, slow, i);
  }
}

TEST(Exact, TheOrderOfDevicesIsOfNoMeaning) {
  std::mt19937_64 random(31);
  for (int i = 0; i < 30; ++i) {
    const planning::CostInputs inputs = test::random_costs(sized_costs(4, 20), random);
    planning::CostInputs turned = inputs;
    std::rotate(turned.devices.begin(), turned.devices.begin() + 1, turned.devices.end());
    const auto turn = [](auto& list) {
      std::rotate(list.begin(), list.begin() + 1, list.end() - 1);
    };
    turn(turned.links);
    for (auto& row : turned.links) turn(row);
    const auto front = exact_search()->search(inputs, {});
    const auto other = exact_search()->search(turned, {});
    ASSERT_TRUE(front && other);
    ASSERT_EQ(test::difference(*front, *other), "") << i;
  }
}

}  // namespace
}  // namespace pareto::search
