#include "partitioner/planning/search/point_front.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "tests/support/objectives.h"
#include "tests/support/random_costs.h"

namespace pareto::search {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Point {
  std::int64_t latency;
  std::int64_t window;
  std::int64_t third;
  auto operator<=>(const Point&) const = default;
};

/// Throughputs are compared as fractions; the numbers are small here.
bool as_good(const Point& a, const Point& b) {
  return a.latency <= b.latency && a.third <= b.third &&
         a.window * b.latency >= b.window * a.latency;
}

/// Points of all windows in range, those that no other is as good as and different from.
std::set<Point> plain_front(const std::vector<Criteria>& placements,
                            planning::WindowRange windows) {
  std::vector<Point> all;
  for (const Criteria& placement : placements) {
    for (int window = windows.least; window <= windows.most; ++window) {
      all.push_back(
          {std::max(placement.latency, window * placement.bottleneck), window, placement.also[0]});
    }
  }
  std::set<Point> front;
  for (const Point& point : all) {
    const bool beaten = std::ranges::any_of(
        all, [&](const Point& other) { return as_good(other, point) && !as_good(point, other); });
    if (!beaten) front.insert(point);
  }
  return front;
}

Criteria random_criteria(std::mt19937_64& random, std::int64_t largest) {
  const auto number = [&] { return static_cast<std::int64_t>(1 + random() % 40) * largest / 40; };
  Criteria criteria{number(), number(), {static_cast<std::int64_t>(random() % 3)}};
  criteria.bottleneck = std::max<std::int64_t>(1, criteria.bottleneck / 4);
  criteria.latency = std::max(criteria.latency, criteria.bottleneck);
  return criteria;
}

TEST(PointFront, IsThatOfAllWindowsOfAllPlacements) {
  std::mt19937_64 random(61);
  for (const planning::WindowRange windows :
       {planning::WindowRange{1, 30}, {1, 1}, {2, 5}, {7, 30}}) {
    for (int i = 0; i < 300; ++i) {
      std::vector<Criteria> placements;
      PointFront front(windows, {&test::objective("energy")});
      for (std::uint64_t count = 1 + random() % 8; count > 0; --count) {
        placements.push_back(random_criteria(random, 40));
        const bool covered = front.covers(placements.back());
        // What is covered is not added, and what is not is.
        ASSERT_EQ(front.add(placements.back(), placements.size() - 1), !covered);
      }
      std::set<Point> found;
      for (const PointFront::Entry& entry : front.entries()) {
        const Criteria& witness = placements[entry.witness];
        ASSERT_EQ(entry.latency, std::max(witness.latency, entry.window * witness.bottleneck));
        ASSERT_EQ(entry.also, witness.also);
        found.insert({entry.latency, entry.window, entry.also[0]});
      }
      // Of points that are equal in all but the number in flight one is kept.
      for (const Point& point : plain_front(placements, windows)) {
        ASSERT_TRUE(
            std::ranges::any_of(found, [&](const Point& other) { return as_good(other, point); }))
            << i << ": " << point.latency << " ns at " << point.window;
      }
      for (const Point& point : found) {
        ASSERT_TRUE(std::ranges::none_of(
            found, [&](const Point& other) { return other != point && as_good(other, point); }));
      }
    }
  }
}

TEST(PointFront, WhatCostsMoreThanCoveredIsCovered) {
  std::mt19937_64 random(62);
  int covered = 0;
  for (int i = 0; i < 500; ++i) {
    PointFront front({}, {&test::objective("energy")});
    for (std::size_t one = 0; one < 5; ++one) front.add(random_criteria(random, 1000), one);
    const Criteria criteria = random_criteria(random, 1000);
    if (!front.covers(criteria)) continue;
    ++covered;
    for (const auto& [latency, bottleneck, third] :
         {std::tuple{1, 0, 0}, std::tuple{0, 1, 0}, std::tuple{0, 0, 1}, std::tuple{500, 90, 2}}) {
      Criteria more{
          criteria.latency + latency, criteria.bottleneck + bottleneck, {criteria.also[0] + third}};
      more.latency = std::max(more.latency, more.bottleneck);
      ASSERT_TRUE(front.covers(more)) << i;
    }
  }
  EXPECT_GT(covered, 50);
}

TEST(PointFront, OfAPriceIsOfWhatEachPointCosts) {
  // Half the price, at a third of the rate: per request it costs more.
  const planning::Objective& cost = test::objective("cost");
  PointFront front({1, 1}, {&cost});
  const std::int64_t second = 1'000'000'000;
  EXPECT_TRUE(front.add(Criteria{second, second, {2'000'000}}, 0));
  EXPECT_FALSE(front.add(Criteria{3 * second, 3 * second, {1'000'000}}, 1));
  EXPECT_TRUE(front.add(Criteria{3 * second, 3 * second, {500'000}}, 2));
  ASSERT_EQ(front.entries().size(), 2U);
  EXPECT_EQ(front.entries()[0].also[0], cost.searched->at_window(2'000'000, second, 1));
}

TEST(PointFront, ComparesTimesThatNoWordHoldsTheProductOf) {
  PointFront front({});
  constexpr std::int64_t kLong = std::int64_t{1} << 61;
  EXPECT_TRUE(front.add({Nanoseconds(kLong), 99'999}, {}, 0));
  EXPECT_FALSE(front.add({Nanoseconds(kLong), 99'998}, {}, 1));
  EXPECT_TRUE(front.add({Nanoseconds(kLong), 100'000}, {}, 2));
  ASSERT_EQ(front.entries().size(), 1U);
  EXPECT_EQ(front.entries()[0].witness, 2U);
}

TEST(PointFront, OfEqualPointsTheFirstStays) {
  PointFront front({1, 4});
  EXPECT_TRUE(front.add(Criteria{100, 50, {}}, 0));
  EXPECT_FALSE(front.add(Criteria{100, 50, {}}, 1));
  for (const auto& entry : front.entries()) EXPECT_EQ(entry.witness, 0U);
}

TEST(AddPlacement, KeepsWitnessesOfWhatIsGoodForSomething) {
  std::mt19937_64 random(63);
  const planning::CostInputs inputs = test::model_like_costs(2, 6, 1);
  PointFront front({});
  std::vector<planning::Placement> witnesses;
  add_lone_devices(inputs, {}, front, witnesses);
  ASSERT_FALSE(witnesses.empty());
  const std::size_t before = witnesses.size();
  // The same again is good for nothing, and what is no placement neither.
  add_placement(inputs, {}, witnesses.front(), front, witnesses);
  add_placement(inputs, {}, {{{7, 0, 6}}, {}}, front, witnesses);
  EXPECT_EQ(witnesses.size(), before);
  const auto points = with_placements(front, witnesses, inputs, {});
  ASSERT_TRUE(points) << points.error().message;
  for (const FrontPoint& point : *points) {
    EXPECT_THAT(point.placement.stages,
                ElementsAre(planning::PlacedStage{point.placement.stages[0].device, 0,
                                                  inputs.positions()}));
  }
}

TEST(WithPlacements, AWitnessThatTakesAnotherTimeIsOurFault) {
  const planning::CostInputs inputs = test::model_like_costs(2, 6, 1);
  const planning::Placement alone{{{0, 0, 6}}, {}};
  PointFront front({});
  front.add({Nanoseconds(1), 1}, {}, 0);
  const auto points = with_placements(front, std::vector{alone}, inputs, {});
  ASSERT_FALSE(points);
  EXPECT_EQ(points.error().code, ErrorCode::kInternal);
  EXPECT_THAT(points.error().message, HasSubstr("found at 1 ns takes"));
}

}  // namespace
}  // namespace pareto::search
