// The front by thresholds against the best of every way, window by window.
#include "partitioner/planning/search/threshold_search.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/partitioner/planning/search/ways.h"
#include "tests/support/random_costs.h"

namespace pareto::search {
namespace {

using test::RandomCosts;
using test::Way;

/// Returns R: the shortest response of all ways with `window` requests in flight.
std::int64_t least_response(const std::vector<Way>& ways, std::int64_t window) {
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  for (const Way& way : ways) {
    best = std::min(best, std::max(way.latency, window * way.bottleneck));
  }
  return best;
}

RandomCosts without_media(std::mt19937_64& random, int devices, int positions) {
  RandomCosts options = test::random_options(random, devices, positions);
  options.media = 0;
  options.cards = 0;
  return options;
}

TEST(ThresholdSearch, FindsTheBestOfEveryWindow) {
  std::mt19937_64 random(71);
  int found = 0;
  for (const planning::WindowRange windows : {planning::WindowRange{1, 40}, {1, 1}, {3, 9}}) {
    for (int i = 0; i < 100; ++i) {
      const planning::CostInputs inputs = test::random_costs(without_media(random, 3, 7), random);
      const auto ways = test::ways_in(make_tables(inputs, {}, 1));
      PointFront front(windows);
      std::vector<planning::Placement> witnesses;
      const auto caps = threshold_search(inputs, windows, front, witnesses);
      ASSERT_TRUE(caps) << caps.error().message;
      ASSERT_EQ(front.entries().empty(), ways.empty()) << i;
      if (ways.empty()) continue;
      for (const auto& entry : front.entries()) {
        ASSERT_EQ(entry.latency, least_response(ways, entry.window)) << i << " at " << entry.window;
        ++found;
      }
      for (int window = windows.least; window <= windows.most; ++window) {
        const std::int64_t response = least_response(ways, window);
        const bool met = std::ranges::any_of(front.entries(), [&](const auto& entry) {
          return entry.latency <= response && entry.window * response >= window * entry.latency;
        });
        ASSERT_TRUE(met) << i << ": " << response << " ns at window " << window;
      }
    }
  }
  EXPECT_GT(found, 200);
}

TEST(ThresholdSearch, WitnessesAreWhatTheirEntriesSay) {
  std::mt19937_64 random(72);
  for (int i = 0; i < 100; ++i) {
    const planning::CostInputs inputs = test::random_costs(without_media(random, 4, 20), random);
    PointFront front({});
    std::vector<planning::Placement> witnesses;
    ASSERT_TRUE(threshold_search(inputs, {}, front, witnesses));
    for (const auto& entry : front.entries()) {
      const auto plan = planning::evaluate(inputs, witnesses.at(entry.witness));
      ASSERT_TRUE(plan) << i << ": " << plan.error().message;
      ASSERT_EQ(planning::at_window(*plan, static_cast<int>(entry.window)).latency.count(),
                entry.latency);
    }
  }
}

TEST(ThresholdSearch, TriesFewCaps) {
  // A point of the front takes a few dozen programs, not one for every nanosecond.
  const planning::CostInputs inputs =
      test::model_like_costs(3, 60, 1, std::chrono::milliseconds(50));
  PointFront front({});
  std::vector<planning::Placement> witnesses;
  const auto caps = threshold_search(inputs, {}, front, witnesses);
  ASSERT_TRUE(caps) << caps.error().message;
  EXPECT_GT(front.entries().size(), 3U);
  EXPECT_LT(*caps, 40 * static_cast<int>(front.entries().size()));
}

TEST(ThresholdSearch, OfNoPlanIsEmpty) {
  std::mt19937_64 random(73);
  planning::CostInputs inputs = test::random_costs(without_media(random, 3, 6), random);
  for (planning::DeviceCosts& device : inputs.devices) device.may_be_last = false;
  PointFront front({});
  std::vector<planning::Placement> witnesses;
  EXPECT_EQ(threshold_search(inputs, {}, front, witnesses).value(), 1) << "asked once";
  EXPECT_TRUE(front.entries().empty());
  EXPECT_TRUE(witnesses.empty());
}

}  // namespace
}  // namespace pareto::search
