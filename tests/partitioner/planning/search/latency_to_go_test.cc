// The dynamic program against every way, one after the other.
#include "partitioner/planning/search/latency_to_go.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/partitioner/planning/search/ways.h"
#include "tests/support/random_costs.h"

namespace pareto::search {
namespace {

using test::RandomCosts;
using test::Way;

constexpr std::int64_t kUncapped = std::int64_t{1} << 52;

planning::CostInputs small_costs(std::mt19937_64& random, int most_devices, int most_positions) {
  RandomCosts options = test::random_options(random, most_devices, most_positions);
  options.media = 0;
  options.cards = 0;
  return test::random_costs(options, random);
}

/// The least sum of all ways under a cap.
template <typename Sum>
std::optional<double> least(const std::vector<Way>& ways, std::int64_t cap, Sum sum) {
  std::optional<double> best;
  for (const Way& way : ways) {
    if (way.bottleneck > cap) continue;
    const auto value = static_cast<double>(sum(way));
    if (!best || value < *best) best = value;
  }
  return best;
}

/// Returns the caps at which something changes, and those next to them.
std::vector<std::int64_t> caps_of(const std::vector<Way>& ways) {
  std::vector<std::int64_t> caps{0, 1, kUncapped};
  const std::size_t step = 1 + ways.size() / 12;
  for (std::size_t i = 0; i < ways.size(); i += step) {
    caps.push_back(ways[i].bottleneck);
    caps.push_back(ways[i].bottleneck - 1);
  }
  return caps;
}

TEST(LatencyToGo, IsTheLeastOfAllWaysUnderEachCap) {
  std::mt19937_64 random(41);
  int solved = 0;
  for (int i = 0; i < 150; ++i) {
    const planning::CostInputs inputs = small_costs(random, 3, 7);
    const SearchTables tables = make_tables(inputs, {}, 1);
    const auto ways = test::ways_in(tables);
    LatencyToGo to_go(tables);
    for (const std::int64_t cap : caps_of(ways)) {
      const auto expected = least(ways, cap, [](const Way& way) { return way.latency; });
      const auto found = to_go.solve(cap);
      ASSERT_EQ(found.has_value(), expected.has_value()) << "instance " << i << " cap " << cap;
      if (!found) continue;
      ASSERT_EQ(static_cast<double>(*found), *expected) << "instance " << i << " cap " << cap;
      ++solved;
    }
  }
  EXPECT_GT(solved, 500);
}

TEST(LatencyToGo, TracesAPlanThatTakesThisLong) {
  std::mt19937_64 random(42);
  int traced = 0;
  for (int i = 0; i < 250; ++i) {
    const planning::CostInputs inputs = small_costs(random, 4, 9);
    const SearchTables tables = make_tables(inputs, {}, 1);
    LatencyToGo to_go(tables);
    std::int64_t cap = kUncapped;
    while (const auto found = to_go.solve(cap)) {
      const planning::Placement placement = to_go.trace();
      const auto plan = planning::evaluate(inputs, placement);
      ASSERT_TRUE(plan) << "instance " << i << ": " << plan.error().message;
      ASSERT_LE(plan->bottleneck.count(), std::max<std::int64_t>(cap, 1)) << "instance " << i;
      ASSERT_EQ(plan->latency.count(), std::max(*found, plan->bottleneck.count())) << i;
      ++traced;
      // To the next shorter bottleneck, where there is one.
      cap = std::min(cap, plan->bottleneck.count()) - 1;
      if (cap < 0) break;
    }
  }
  EXPECT_GT(traced, 300);
}

TEST(LatencyToGo, OfAnotherObjectiveIsTheLeastOfAllWays) {
  AlsoObjectives sums = planning::searched_objectives();
  std::erase_if(sums, [](const planning::Objective* one) {
    return one->searched->stages != planning::Combine::kSum;
  });
  std::mt19937_64 random(43);
  for (int i = 0; i < 60; ++i) {
    const SearchTables tables = make_tables(small_costs(random, 3, 6), sums, 1);
    const auto ways = test::ways_in(tables);
    for (std::size_t objective = 0; objective < sums.size(); ++objective) {
      LatencyToGo to_go(tables, objective);
      for (const std::int64_t cap : caps_of(ways)) {
        const auto expected = least(ways, cap, [&](const Way& way) { return way.also[objective]; });
        const auto found = to_go.solve(cap);
        ASSERT_EQ(found.has_value(), expected.has_value()) << i << " " << sums[objective]->name;
        if (!expected) continue;
        ASSERT_NEAR(static_cast<double>(*found), *expected, 1 + *expected * 1e-9)
            << i << " " << sums[objective]->name;
      }
    }
  }
}

TEST(LatencyToGo, KnowsWhatIsLeftAtEveryArrival) {
  std::mt19937_64 random(44);
  int tight = 0;
  for (int i = 0; i < 100; ++i) {
    const SearchTables tables = make_tables(small_costs(random, 3, 6), {}, 1);
    const auto ways = test::ways_in(tables);
    LatencyToGo to_go(tables);
    to_go.solve(kUncapped);
    for (const Way& way : ways) {
      for (std::size_t stage = 0; stage < way.stages.size(); ++stage) {
        const Hop& in = tables.hops[static_cast<std::size_t>(way.hops[stage])];
        const Hop& out = tables.hops[static_cast<std::size_t>(way.hops[stage + 1])];
        const auto rest = static_cast<double>(way.latency - way.arrived[stage]);
        const double arrive = to_go.arrive(way.usages[stage], in.entry, way.stages[stage].begin);
        // A bound for each way; and the best way from there on reaches it.
        ASSERT_LE(arrive, rest) << "instance " << i;
        tight += arrive == rest ? 1 : 0;
        const auto& after = tables.exits[static_cast<std::size_t>(out.exit)].alone;
        const auto& before = tables.entries[static_cast<std::size_t>(in.entry)].alone;
        const auto computed =
            static_cast<double>(before[static_cast<std::size_t>(way.stages[stage].begin)] +
                                after[static_cast<std::size_t>(way.stages[stage].end)]);
        ASSERT_LE(to_go.leave(way.usages[stage], out.exit, way.stages[stage].end), rest - computed)
            << "instance " << i;
      }
    }
  }
  EXPECT_GT(tight, 100);
}

TEST(LatencyToGo, BoundsOutliveTheSolving) {
  std::mt19937_64 random(45);
  const SearchTables tables = make_tables(small_costs(random, 3, 6), {}, 1);
  LatencyToGo kept(tables);
  LatencyToGo whole(tables);
  kept.solve(kUncapped);
  whole.solve(kUncapped);
  kept.end_solving();
  for (std::size_t usage = 0; usage < tables.usages; ++usage) {
    for (std::size_t entry = 0; entry < tables.entries.size(); ++entry) {
      for (int position = 0; position <= tables.last(); ++position) {
        EXPECT_EQ(kept.arrive(usage, static_cast<int>(entry), position),
                  whole.arrive(usage, static_cast<int>(entry), position));
      }
    }
  }
}

}  // namespace
}  // namespace pareto::search
