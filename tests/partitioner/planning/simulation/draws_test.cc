#include "partitioner/planning/simulation/draws.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "partitioner/planning/simulation/event_queue.h"
#include "partitioner/planning/simulation/latency_histogram.h"
#include "tests/partitioner/planning/simulation/scenarios.h"

namespace pareto::simulation {
namespace {

TEST(Draws, NormalQuantileIsTheInverseOfTheDistribution) {
  for (int hundredth = -600; hundredth <= 600; ++hundredth) {
    const double deviate = hundredth / 100.0;
    const double share = 0.5 * std::erfc(-deviate / std::numbers::sqrt2);
    EXPECT_NEAR(normal_quantile(share), deviate, 2e-6) << share;
  }
}

TEST(Draws, BitsDependOnEverything) {
  const std::uint64_t bits = random_bits(1, 2, 3);
  EXPECT_EQ(bits, random_bits(1, 2, 3));
  EXPECT_NE(bits, random_bits(2, 2, 3));
  EXPECT_NE(bits, random_bits(1, 3, 3));
  EXPECT_NE(bits, random_bits(1, 2, 4));
}

TEST(Draws, NeighboursAreNotAlike) {
  // Of numbers, and of purposes, as requests and threads count them: |r| is below 4 / sqrt(n).
  constexpr int kCount = 100'000;
  double by_number = 0;
  double by_purpose = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const double one = uniform_of(random_bits(7, i, 0)) - 0.5;
    by_number += one * (uniform_of(random_bits(7, i + 1, 0)) - 0.5);
    by_purpose += one * (uniform_of(random_bits(7, i, 8192)) - 0.5);
  }
  EXPECT_LT(std::abs(by_number) * 12 / kCount, 4 / std::sqrt(kCount));
  EXPECT_LT(std::abs(by_purpose) * 12 / kCount, 4 / std::sqrt(kCount));
}

TEST(Draws, ShapesHaveTheirMeanAndDeviation) {
  constexpr int kCount = 400'000;
  const auto expect = [](const Duration& duration, double speed, double cv) {
    const DurationDraw draw(duration, speed);
    double sum = 0;
    double squares = 0;
    for (std::uint64_t i = 0; i < kCount; ++i) {
      const auto time = static_cast<double>(draw.draw(random_bits(3, i, 0), {}));
      sum += time;
      squares += time * time;
    }
    const double mean = sum / kCount;
    const double wanted = static_cast<double>(duration.mean.count()) / speed;
    EXPECT_NEAR(mean / wanted, 1, 0.005) << to_string(duration.shape);
    EXPECT_NEAR(std::sqrt(squares / kCount - mean * mean) / mean, cv, 0.01 * std::max(cv, 0.1))
        << to_string(duration.shape);
  };
  expect(fixed(milliseconds(3)), 2, 0);
  expect(varying(milliseconds(3), 0.2), 1, 0.2);
  expect(varying(milliseconds(3), 0.8), 0.5, 0.8);
  expect(varying(milliseconds(3), 0.2, Shape::kNormal), 1, 0.2);
  expect(varying(milliseconds(3), 0, Shape::kExponential), 1, 1);
}

TEST(Draws, ARecordedTimeIsItsColumnAtTheDevicesSpeed) {
  Duration duration;
  duration.column = 1;
  const std::vector<std::int64_t> row{100, 250, 400};
  EXPECT_EQ(DurationDraw(duration, 1).draw(99, row), 250);
  EXPECT_EQ(DurationDraw(duration, 0.5).draw(1, row), 500);
}

TEST(Histogram, QuantilesAreWithinTheStatedError) {
  LatencyHistogram histogram;
  std::vector<std::int64_t> values;
  for (std::uint64_t i = 0; i < 50'000; ++i) {
    // From nanoseconds to hours.
    const double exponent = 43 * uniform_of(random_bits(5, i, 0));
    values.push_back(static_cast<std::int64_t>(std::exp2(exponent)));
    histogram.add(values.back());
  }
  std::ranges::sort(values);
  for (const double q : {0.0, 0.001, 0.05, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0}) {
    const auto rank = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(q * 50'000)));
    const auto exact = static_cast<double>(values[rank - 1]);
    EXPECT_NEAR(histogram.quantile(q), exact, exact * LatencyHistogram::kRelativeError) << q;
  }
  EXPECT_EQ(histogram.least(), values.front());
  EXPECT_EQ(histogram.most(), values.back());
  EXPECT_EQ(histogram.count(), 50'000);
}

TEST(Histogram, HoldsTheSmallestAndTheLargest) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), 0);
  EXPECT_EQ(histogram.mean(), 0);
  for (std::int64_t value = 0; value < 1024; ++value) histogram.add(value);
  EXPECT_EQ(histogram.quantile(0.5), 511);
  histogram.clear();
  histogram.add(INT64_MAX);
  EXPECT_EQ(histogram.quantile(0), static_cast<double>(INT64_MAX));
  EXPECT_EQ(histogram.count(), 1);
}

TEST(EventQueue, GivesEventsInOrderOfTimeThenCode) {
  const auto before = [](const Event& one, const Event& other) {
    return std::pair(one.time, one.code) < std::pair(other.time, other.code);
  };
  EventQueue queue;
  std::vector<Event> events;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const Event event{static_cast<std::int64_t>(random_bits(1, i, 0) % 700),
                      random_bits(1, i, 1) % 9};
    events.push_back(event);
    queue.push(event);
    if (i % 3 == 0) {
      const auto least = std::ranges::min_element(events, before);
      EXPECT_EQ(queue.top().time, least->time);
      EXPECT_EQ(queue.top().code, least->code);
      events.erase(least);
      queue.pop();
    }
  }
  std::ranges::sort(events, before);
  for (const Event& event : events) {
    ASSERT_FALSE(queue.empty());
    EXPECT_EQ(queue.top().time, event.time);
    EXPECT_EQ(queue.top().code, event.code);
    queue.pop();
  }
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace pareto::simulation
