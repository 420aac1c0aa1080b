#include "partitioner/planning/search/label_bounds.h"

#include <gtest/gtest.h>

#include "tests/partitioner/planning/search/ways.h"
#include "tests/support/random_costs.h"

namespace pareto::search {
namespace {

using test::RandomCosts;
using test::Way;

planning::CostInputs small_costs(std::mt19937_64& random) {
  RandomCosts options = test::random_options(random, 3, 6);
  options.media = 0;
  options.cards = 0;
  return test::random_costs(options, random);
}

Criteria criteria_of(const Way& way) {
  return {std::max(way.latency, way.bottleneck), way.bottleneck, way.also};
}

AlsoObjectives also(const std::vector<std::string>& names) {
  return find_objectives(names, planning::searched_objectives()).value();
}

/// Nothing is given up that the front does not cover: each beginning of each way is asked about,
/// with fronts of some of the ways.
TEST(LabelBounds, GiveUpNoBeginningOfAPlanThatIsNew) {
  std::mt19937_64 random(51);
  int given_up = 0;
  int kept = 0;
  for (const AlsoObjectives& objectives : {also({}), also({"energy"}), also({"loss"}),
                                           also({"cost"}), also({"network_bytes", "energy"})}) {
    for (int i = 0; i < 60; ++i) {
      const SearchTables tables = make_tables(small_costs(random), objectives, 1);
      const auto ways = test::ways_in(tables);
      const LabelBounds bounds(tables, objectives);
      ASSERT_EQ(bounds.feasible(), !ways.empty());
      if (ways.empty()) continue;
      PointFront front({}, objectives);
      for (std::size_t one = 0; one < ways.size(); one += 1 + random() % 4) {
        front.add(criteria_of(ways[one]), one);
      }
      for (const Way& way : ways) {
        const bool covered = front.covers(criteria_of(way));
        for (std::size_t stage = 0; stage < way.stages.size(); ++stage) {
          // What it has lost or spent until then is left out: less is better.
          const Criteria so_far{way.arrived[stage], way.limiting[stage], {}};
          const int entry = tables.hops[static_cast<std::size_t>(way.hops[stage])].entry;
          const bool hopeless = bounds.hopeless_at_entry(front, so_far, way.usages[stage], entry,
                                                         way.stages[stage].begin);
          ASSERT_TRUE(!hopeless || covered) << "instance " << i << " stage " << stage;
          (hopeless ? given_up : kept) += 1;
        }
      }
    }
  }
  // And yet much is given up: else bounds would be of no use.
  EXPECT_GT(given_up, kept / 10);
  EXPECT_GT(kept, 100);
}

TEST(LabelBounds, GiveUpNothingBeforeAnythingIsFound) {
  std::mt19937_64 random(52);
  for (int i = 0; i < 60; ++i) {
    const SearchTables tables = make_tables(small_costs(random), also({"energy"}), 1);
    const LabelBounds bounds(tables, also({"energy"}));
    const PointFront nothing({}, also({"energy"}));
    for (const Way& way : test::ways_in(tables)) {
      const TracedStage& last = way.stages.back();
      const Hop& out = tables.hops[static_cast<std::size_t>(way.hops.back())];
      ASSERT_FALSE(
          bounds.hopeless_at_entry(nothing, {way.arrived[0], way.limiting[0], {}}, way.usages[0],
                                   tables.hops[static_cast<std::size_t>(way.hops[0])].entry, 0));
      ASSERT_FALSE(bounds.hopeless_at_exit(nothing, {way.latency, way.bottleneck, {}},
                                           way.usages.back(), out.exit, last.end));
    }
  }
}

TEST(LabelBounds, AreOfNoUseWhereNoPlanIs) {
  std::mt19937_64 random(53);
  planning::CostInputs inputs = small_costs(random);
  for (auto& row : inputs.links) {
    for (planning::LinkCosts& link : row) link.usable = false;
  }
  const SearchTables tables = make_tables(inputs, {}, 1);
  EXPECT_FALSE(LabelBounds(tables, {}).feasible());
}

TEST(RoundedDown, IsBelowByMoreThanDoublesAreOff) {
  std::mt19937_64 random(54);
  for (int i = 0; i < 1000; ++i) {
    const auto sum = static_cast<double>(random() % (std::uint64_t{1} << 50));
    const std::int64_t down = rounded_down(sum);
    ASSERT_LT(static_cast<double>(down), sum + 1e-9);
    ASSERT_GE(static_cast<double>(down), sum - 2 - sum * 1e-8);
  }
  EXPECT_EQ(rounded_down(0), 0);
  EXPECT_LE(rounded_down(-1000.5), -1001);
}

}  // namespace
}  // namespace pareto::search
