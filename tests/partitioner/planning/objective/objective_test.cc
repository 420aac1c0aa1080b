#include "partitioner/planning/objective/objective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>

namespace pareto::planning {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
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
  measurement.stages = {{1, memory}};
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
        point(value(random), value(random), static_cast<std::uint64_t>(value(random)) + 1));
  }
  return points;
}

/// Makes a measurement of two stages with all that the inventory may say, over three links, in
/// batches of two.
Measurement full_measurement() {
  Measurement m;
  m.latency_p50_ms = 1;
  m.latency_p90_ms = 2;
  m.latency_p99_ms = 3;
  m.latency_mean_ms = 4;
  m.throughput_per_s = 10;
  m.batch = 2;
  m.boundary_bytes = 14;
  m.stages = {{6, 600, {{"power", 5000}, {"price_per_hour", 360'000}}},
              {2, 800, {{"power", 1000}, {"price_per_hour", 720'000}}}};
  m.wire_bytes = {100, 14, 8};
  m.accuracy_percent = 71.5;
  return m;
}

double read(std::string_view name, const Measurement& m) { return named({name}).at(0)->read(m); }

TEST(Objectives, HaveDistinctNamesUnitsAndReadTheirFigure) {
  std::set<std::string_view> names;
  for (const Objective& objective : builtin_objectives()) {
    names.insert(objective.name);
    EXPECT_FALSE(objective.unit.empty()) << objective.name;
    EXPECT_FALSE(objective.title.empty()) << objective.name;
    EXPECT_EQ(objective.direction == Direction::kLargerIsBetter,
              objective.name == "throughput" || objective.name == "accuracy");
    if (objective.name != "loss") {
      EXPECT_GT(objective.read(full_measurement()), 0) << objective.name;
    }
  }
  EXPECT_EQ(names.size(), builtin_objectives().size());
}

TEST(Objectives, AreOfOneSample) {
  Measurement m = full_measurement();
  EXPECT_DOUBLE_EQ(read("latency", m), 1);
  EXPECT_DOUBLE_EQ(read("throughput", m), 10);
  EXPECT_DOUBLE_EQ(read("boundary", m), 7);
  EXPECT_DOUBLE_EQ(read("memory", m), 800) << "of the device that needs most";
  EXPECT_DOUBLE_EQ(read("energy", m), (5 * 6 + 1 * 2) / 2.0) << "W × ms are mJ";
  EXPECT_DOUBLE_EQ(read("network_bytes", m), 61);
  EXPECT_DOUBLE_EQ(read("accuracy", m), 71.5);
  EXPECT_TRUE(std::isnan(read("accuracy", Measurement())));
  // 1.08 an hour are 0.0003 a second, in which there are 5 requests.
  EXPECT_DOUBLE_EQ(read("cost", m), 0.0003 / 5 * 1000);
  m.replicated = true;
  EXPECT_DOUBLE_EQ(read("energy", m), 8) << "a request passes one of two";
  EXPECT_DOUBLE_EQ(read("network_bytes", m), 30.5);
  EXPECT_DOUBLE_EQ(read("cost", m), 0.06) << "both have to be paid";
}

TEST(Objectives, AreNotKnownWithoutWhatTheyNeed) {
  Measurement m = full_measurement();
  m.stages[1].figures.erase("power");
  EXPECT_TRUE(std::isnan(read("energy", m)));
  EXPECT_FALSE(std::isnan(read("cost", m)));
  for (const char* const name : {"energy", "cost", "memory", "network_bytes"}) {
    EXPECT_TRUE(std::isnan(read(name, {}))) << name;
  }
}

TEST(SearchedObjectives, SayHowTheirPartsMakeAValue) {
  EXPECT_LE(searched_objectives().size(), kMostSearched);
  for (const Objective* const one : searched_objectives()) {
    const SearchedFigure& figure = *one->searched;
    EXPECT_EQ(one->direction, Direction::kSmallerIsBetter) << one->name;
    EXPECT_EQ(searched_objectives()[searched_place(*one)], one);
    if (figure.stages == Combine::kSum) {
      EXPECT_TRUE(figure.rate != nullptr || figure.of_hop != nullptr) << one->name;
      EXPECT_EQ(figure.of_stage, nullptr) << one->name;
    } else {
      EXPECT_EQ(figure.stages, Combine::kMaximum) << one->name;
      EXPECT_NE(figure.of_stage, nullptr) << one->name;
      EXPECT_TRUE(figure.rate == nullptr && figure.of_hop == nullptr) << one->name;
    }
  }
}

TEST(SearchedObjectives, AtAWindowNeverFallWithMoreOfAnythingOrFewerRequests) {
  std::mt19937_64 random(3);
  const auto up_to = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 1));
  };
  for (const Objective* const one : searched_objectives()) {
    const auto at_window = one->searched->at_window;
    if (at_window == nullptr) continue;
    for (int i = 0; i < 10'000; ++i) {
      const std::int64_t value = up_to(1'000'000'000'000);
      const std::int64_t latency = 1 + up_to(3'600'000'000'000);
      const int window = 1 + static_cast<int>(up_to(1000));
      const std::int64_t here = at_window(value, latency, window);
      ASSERT_GE(here, 0) << "it is capped";
      ASSERT_GE(at_window(value + up_to(100), latency, window), here);
      ASSERT_GE(at_window(value, latency + up_to(1'000'000), window), here);
      ASSERT_LE(at_window(value, latency, window + 1), here);
    }
  }
}

TEST(SearchedObjectives, AreShownOfOneSampleInTheirUnits) {
  EXPECT_DOUBLE_EQ(shown_value(*named({"energy"})[0], 5'000'000'000, 2), 2.5);
  EXPECT_DOUBLE_EQ(shown_value(*named({"memory"})[0], 600, 2), 600);
  // A device at 0.36 an hour that answers in 100 ms: 0.01 for 1,000 requests.
  const Objective& cost = *named({"cost"})[0];
  const std::int64_t value = cost.searched->at_window(360'000, 100'000'000, 1);
  EXPECT_DOUBLE_EQ(shown_value(cost, value, 1), 0.01);
}

TEST(FindObjectives, NamesThoseThereAre) {
  EXPECT_EQ(find_objectives({"memory", "latency"}, all_objectives()), named({"memory", "latency"}));
  const auto none = find_objectives({"memry"}, all_objectives());
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, testing::AllOf(HasSubstr("\"memry\""), HasSubstr("memory")));
  EXPECT_FALSE(find_objectives({"latency"}, searched_objectives()));
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
