#include "partitioner/planning/objective/objective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>

namespace pareto::planning {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<const Objective*> named(const std::vector<std::string_view>& names) {
  std::vector<const Objective*> chosen;
  for (const std::string_view name : names) {
    for (const Objective& objective : builtin_objectives()) {
      if (objective.name == name) chosen.push_back(&objective);
    }
  }
  return chosen;
}

Measurement point(double latency, double throughput, std::uint64_t memory = 0) {
  Measurement measurement;
  measurement.latency_p50_ms = latency;
  measurement.throughput_per_s = throughput;
  measurement.peak_memory_bytes = memory;
  return measurement;
}

/// Returns the front by the definition, in n².
std::vector<std::size_t> slow_front(const std::vector<Measurement>& points,
                                    const std::vector<const Objective*>& objectives) {
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < points.size(); ++i) {
    bool beaten = false;
    for (const Measurement& other : points) {
      beaten = beaten || dominates(other, points[i], objectives);
    }
    if (!beaten) front.push_back(i);
  }
  return front;
}

std::vector<Measurement> random_points(std::size_t count, int values, unsigned seed) {
  std::mt19937 random(seed);
  // Few values, so that ties and equal points are frequent.
  std::uniform_int_distribution<int> value(0, values);
  std::vector<Measurement> points;
  for (std::size_t i = 0; i < count; ++i) {
    points.push_back(
        point(value(random), value(random), static_cast<std::uint64_t>(value(random))));
  }
  return points;
}

TEST(Objectives, HaveDistinctNamesUnitsAndReadTheirFigure) {
  Measurement m;
  m.latency_p50_ms = 1;
  m.latency_p90_ms = 2;
  m.latency_p99_ms = 3;
  m.latency_mean_ms = 4;
  m.throughput_per_s = 5;
  m.peak_memory_bytes = 6;
  m.boundary_bytes = 7;
  std::set<std::string_view> names;
  std::multiset<double> values;
  for (const Objective& objective : builtin_objectives()) {
    names.insert(objective.name);
    values.insert(objective.value(m));
    EXPECT_FALSE(objective.unit.empty()) << objective.name;
    EXPECT_EQ(objective.direction == Direction::kLargerIsBetter, objective.name == "throughput");
  }
  EXPECT_EQ(names.size(), builtin_objectives().size());
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 4, 5, 6, 7));
}

TEST(Dominates, NeedsOneBetterAndNoneWorse) {
  const auto objectives = named({"latency", "throughput"});
  EXPECT_TRUE(dominates(point(1, 10), point(2, 10), objectives));
  EXPECT_TRUE(dominates(point(1, 11), point(1, 10), objectives));
  EXPECT_FALSE(dominates(point(1, 10), point(1, 10), objectives));
  EXPECT_FALSE(dominates(point(1, 9), point(2, 10), objectives));
  EXPECT_FALSE(dominates(point(2, 10), point(1, 10), objectives));
}

TEST(ParetoFront, OfTwoObjectives) {
  const auto objectives = named({"latency", "throughput"});
  EXPECT_THAT(pareto_front({}, objectives), IsEmpty());
  EXPECT_THAT(pareto_front({point(3, 3)}, objectives), ElementsAre(0));
  EXPECT_THAT(pareto_front({point(30, 90), point(10, 50), point(20, 40), point(20, 70),
                            point(10, 50), point(40, 90)},
                           objectives),
              ElementsAre(0, 1, 3, 4));
}

TEST(ParetoFront, OfInfiniteFiguresAndNone) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const auto objectives = named({"latency", "throughput"});
  EXPECT_THAT(pareto_front({point(kInfinity, -kInfinity)}, objectives), ElementsAre(0));
  EXPECT_THAT(pareto_front({point(kNaN, 1e9), point(5, 1), point(1, kNaN)}, objectives),
              ElementsAre(1));
}

TEST(ParetoFront, AgreesWithTheDefinition) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const auto points = random_points(1 + seed * 3, 2 + static_cast<int>(seed), seed);
    for (const auto& objectives :
         {named({"latency"}), named({"latency", "throughput"}), named({"throughput", "memory"}),
          named({"latency", "throughput", "memory"})}) {
      EXPECT_EQ(pareto_front(points, objectives), slow_front(points, objectives))
          << "seed " << seed << ", " << objectives.size() << " objectives";
    }
  }
}

TEST(ParetoFront, OfAHundredThousandPointsOnOneLine) {
  // Every point is on the front: n² comparisons would take minutes.
  std::vector<Measurement> points;
  for (int i = 0; i < 100'000; ++i) points.push_back(point(i, i));
  EXPECT_EQ(pareto_front(points, named({"latency", "throughput"})).size(), points.size());
}

}  // namespace
}  // namespace pareto::planning
