#include "partitioner/planning/search/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/partitioner/planning/search/ways.h"
#include "tests/support/objectives.h"
#include "tests/support/random_costs.h"

namespace pareto::search {
namespace {

using test::RandomCosts;
using test::Way;
using testing::ElementsAre;
using testing::HasSubstr;

/// Small enough that all of its plans can be looked at.
planning::CostInputs tiny_costs(std::mt19937_64& random) {
  RandomCosts options = test::random_options(random, 3, 6);
  options.media = 0;
  options.cards = 0;
  return test::random_costs(options, random);
}

TEST(Tables, EveryWayIsAPlanThatTakesAsLong) {
  std::mt19937_64 random(31);
  int ways = 0;
  for (int i = 0; i < 200; ++i) {
    const planning::CostInputs inputs = tiny_costs(random);
    AlsoObjectives sums = planning::searched_objectives();
    std::erase_if(sums, [](const planning::Objective* one) {
      return one->searched->stages != planning::Combine::kSum;
    });
    const SearchTables tables = make_tables(inputs, sums, 1);
    for (const Way& way : test::ways_in(tables)) {
      const auto plan = planning::evaluate(inputs, to_placement(tables, way.stages, way.hops));
      ASSERT_TRUE(plan) << plan.error().message;
      // An answer is not there before its bottleneck is through.
      ASSERT_EQ(plan->latency.count(), std::max(way.latency, way.bottleneck)) << i;
      ASSERT_EQ(plan->bottleneck.count(), way.bottleneck) << i;
      for (std::size_t k = 0; k < sums.size(); ++k) {
        ASSERT_EQ(plan->value(*sums[k]), way.also[k]) << i << " " << sums[k]->name;
      }
      ++ways;
    }
  }
  EXPECT_GT(ways, 1000);
}

/// Calls `with` for every placement of more than one stage that evaluate() takes.
template <typename With>
void for_each_plan(const planning::CostInputs& inputs, planning::Placement& so_far, With with) {
  const int begin = so_far.stages.empty() ? 0 : so_far.stages.back().end;
  const int from = so_far.stages.empty() ? inputs.coordinator() : so_far.stages.back().device;
  if (begin == inputs.positions()) {
    for (int codec = 0; codec < planning::codec_count(inputs.link(from, inputs.coordinator()));
         ++codec) {
      so_far.codecs.push_back(codec);
      const auto plan = planning::evaluate(inputs, so_far);
      if (plan && so_far.stages.size() > 1) with(*plan);
      so_far.codecs.pop_back();
    }
    return;
  }
  for (int device = 0; device < inputs.coordinator(); ++device) {
    for (int codec = 0; codec < planning::codec_count(inputs.link(from, device)); ++codec) {
      for (int end = begin + 1; end <= inputs.positions(); ++end) {
        so_far.stages.push_back({device, begin, end});
        so_far.codecs.push_back(codec);
        for_each_plan(inputs, so_far, with);
        so_far.stages.pop_back();
        so_far.codecs.pop_back();
      }
    }
  }
}

TEST(Tables, NoPlanIsBetterThanAllWays) {
  std::mt19937_64 random(32);
  int plans = 0;
  for (int i = 0; i < 60; ++i) {
    RandomCosts options = test::random_options(random, 3, 4);
    options.media = 0;
    options.cards = 0;
    options.codecs = 0.6;
    const planning::CostInputs inputs = test::random_costs(options, random);
    const planning::Objective& loss = test::objective("loss");
    const SearchTables tables = make_tables(inputs, {&loss}, 1);
    std::set<std::vector<std::int64_t>> best;
    for (const Way& way : test::ways_in(tables)) {
      best.insert({std::max(way.latency, way.bottleneck), way.bottleneck, way.also[0]});
    }
    planning::Placement none;
    for_each_plan(inputs, none, [&](const planning::Evaluation& plan) {
      ++plans;
      const bool met = std::ranges::any_of(best, [&](const auto& way) {
        return way[0] <= plan.latency.count() && way[1] <= plan.bottleneck.count() &&
               way[2] <= plan.value(loss);
      });
      EXPECT_TRUE(met) << "instance " << i << ": " << plan.latency.count() << " ns";
    });
  }
  EXPECT_GT(plans, 500);
}

TEST(Tables, HoldEveryStepthPositionThatMayBeCut) {
  std::mt19937_64 random(33);
  RandomCosts options;
  options.positions = 10;
  options.illegal = 0;
  planning::CostInputs inputs = test::random_costs(options, random);
  inputs.legal[3] = inputs.legal[8] = false;
  EXPECT_THAT(make_tables(inputs, {}, 1).positions, ElementsAre(0, 1, 2, 4, 5, 6, 7, 9, 10));
  EXPECT_THAT(make_tables(inputs, {}, 3).positions, ElementsAre(0, 4, 7, 10));
  EXPECT_THAT(make_tables(inputs, {}, 100).positions, ElementsAre(0, 10));
}

TEST(Tables, CountAlikeDevicesInsteadOfNamingThem) {
  std::mt19937_64 random(34);
  RandomCosts options;
  options.devices = 5;
  options.identical = 1;
  const SearchTables tables = make_tables(test::random_costs(options, random), {}, 1);
  ASSERT_EQ(tables.kinds.size(), 1U);
  EXPECT_EQ(tables.usages, 6U);
  EXPECT_THAT(tables.kinds[0].devices, ElementsAre(0, 1, 2, 3, 4));
  // The second stage of a kind gets the kind's second device.
  const Way way = test::ways_in(tables).front();
  const planning::Placement placement = to_placement(tables, way.stages, way.hops);
  for (std::size_t stage = 0; stage < placement.stages.size(); ++stage) {
    EXPECT_EQ(placement.stages[stage].device, static_cast<int>(stage));
  }
}

TEST(Tables, UsagesStandBehindThoseTheyContain) {
  SearchTables tables;
  for (const int count : {2, 1, 3}) {
    Kind& kind = tables.kinds.emplace_back();
    kind.devices.assign(static_cast<std::size_t>(count), 0);
    kind.stride = tables.usages;
    tables.usages *= static_cast<std::size_t>(count) + 1;
  }
  const auto order = tables.ascending_usages();
  ASSERT_EQ(order.size(), 3U * 2 * 4);
  const auto contains = [&](std::size_t large, std::size_t small) {
    for (int kind = 0; kind < 3; ++kind) {
      if (tables.used(large, kind) < tables.used(small, kind)) return false;
    }
    return true;
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = i + 1; j < order.size(); ++j) EXPECT_FALSE(contains(order[i], order[j]));
  }
  EXPECT_EQ(order.front(), 0U);
  EXPECT_EQ(order.back(), tables.usages - 1);
}

TEST(Tables, AFirstStageIsOneOfWhichNothingElseIsUsed) {
  SearchTables tables;
  tables.kinds.resize(2);
  tables.kinds[0].stride = 1;
  tables.kinds[1].stride = 3;
  EXPECT_TRUE(tables.is_first(1, 0));
  EXPECT_TRUE(tables.is_first(3, 1));
  EXPECT_FALSE(tables.is_first(4, 1));
  EXPECT_FALSE(tables.is_first(2, 0)) << "the second of a kind";
  EXPECT_FALSE(tables.is_first(0, -1)) << "the coordinator";
}

TEST(Tables, LeaveOutWaysThatAnotherIsNowhereWorseThan) {
  std::mt19937_64 random(35);
  planning::CostInputs inputs = test::random_costs(RandomCosts{}, random);
  planning::LinkCodec good;
  good.figures = {0.5, 0, 0, 1};
  planning::LinkCodec bad;
  bad.figures = {0.75, 1, 1, 1};
  planning::LinkCodec exact;
  exact.figures = {1, 0, 0, 0};
  inputs.links[0][1].usable = true;
  inputs.links[0][1].bytes_per_second = 1e6;
  inputs.links[0][1].codecs = {bad, good, exact, good};
  const auto codecs_between = [&](const AlsoObjectives& also) {
    const SearchTables tables = make_tables(inputs, also, 1);
    const auto kind_of = [&](int device) {
      return std::ranges::find_if(
                 tables.kinds, [&](const Kind& kind) { return kind.devices.front() == device; }) -
             tables.kinds.begin();
    };
    std::set<int> codecs;
    for (const Hop& hop : tables.hops) {
      if (hop.from == kind_of(0) && hop.to == kind_of(1)) codecs.insert(hop.codec);
    }
    return codecs;
  };
  EXPECT_EQ(codecs_between({&test::objective("loss")}), (std::set<int>{1, 2}))
      << "one small, one exact, each once";
  EXPECT_EQ(codecs_between({}), std::set<int>{1}) << "nobody asks what is lost";
}

TEST(Tables, NoWayHasAStageThatADeviceHasNoRoomFor) {
  std::mt19937_64 random(36);
  RandomCosts options;
  options.devices = 3;
  options.positions = 7;
  options.limited = 1;
  options.shared = 0.5;
  int limited = 0;
  for (int i = 0; i < 100; ++i) {
    const planning::CostInputs inputs = test::random_costs(options, random);
    const SearchTables tables = make_tables(inputs, {}, 1);
    for (const Kind& kind : tables.kinds) {
      const planning::DeviceCosts& device =
          inputs.devices[static_cast<std::size_t>(kind.devices.front())];
      for (std::size_t begin = 0; begin < kind.ends.size(); ++begin) {
        for (int end = static_cast<int>(begin) + 1; end <= tables.last(); ++end) {
          const bool listed = std::ranges::count(kind.ends[begin], end) > 0;
          const int first = static_cast<int>(begin);
          const bool fits = planning::has_room(inputs, device, tables.positions[begin],
                                               tables.positions[static_cast<std::size_t>(end)]);
          EXPECT_EQ(listed, fits && !tables.is_all(first, end));
          EXPECT_EQ(std::ranges::count(kind.begins[static_cast<std::size_t>(end)], first),
                    listed ? 1 : 0);
          limited += fits ? 0 : 1;
        }
      }
    }
  }
  EXPECT_GT(limited, 100);
}

TEST(Tables, ListsOfStagesCountToo) {
  // A million stages.
  SearchTables tables;
  tables.positions.resize(2001);
  tables.usages = 2;
  Kind& kind = tables.kinds.emplace_back();
  kind.devices = {0};
  kind.ends.assign(2000, std::vector<int>(500));
  EXPECT_TRUE(check_size(tables, sizeof(double)));
  // Of a kind whose links all differ a program has as many lists as entries times exits.
  kind.entries.resize(30);
  kind.exits.resize(30);
  const auto size = check_size(tables, sizeof(double));
  ASSERT_FALSE(size);
  EXPECT_EQ(size.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(size.error().message, HasSubstr("leave devices out"));
}

TEST(Tables, UsagesThatNoNumberCountsAreRefused) {
  std::mt19937_64 random(37);
  RandomCosts options;
  options.devices = 70;
  options.positions = 3;
  const SearchTables tables = make_tables(test::random_costs(options, random), {}, 1);
  const auto size = check_size(tables, 1);
  ASSERT_FALSE(size);
  EXPECT_EQ(size.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(size.error().message, HasSubstr("70 devices"));
}

}  // namespace
}  // namespace pareto::search
