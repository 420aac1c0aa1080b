#include "runtime/schedules/program_turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "runtime/schedules/clusters.h"
#include "runtime/schedules/timetable_run.h"
#include "tests/runtime/schedules/graphs.h"

namespace pareto::schedules {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kTagNames{"red", "green", "blue"};

/// Returns each operator as a unit with a tag, in some parts.
Timetable tagged_units(const WeightedGraph& graph, std::mt19937_64& random) {
  Timetable timetable;
  timetable.parts = 1 + random() % 3;
  for (std::size_t op = 0; op < graph.nodes.size(); ++op) {
    timetable.units.push_back({.operators = {op},
                               .tags = {kTagNames[random() % kTagNames.size()]},
                               .whole = random() % 5 == 0});
  }
  return timetable;
}

/// Returns workers of which the first takes everything.
Program program_of(std::size_t workers, std::mt19937_64& random) {
  Program program;
  program.workers.push_back({.name = "all", .takes = kTagNames});
  std::ranges::shuffle(program.workers[0].takes, random);
  while (program.workers.size() < workers) {
    program.workers.push_back({.name = "some", .takes = {kTagNames[random() % 3]}});
  }
  for (std::size_t i = random() % 4; i > 0; --i) {
    OrderRule rule{.by = static_cast<OrderRule::By>(random() % 3), .reversed = random() % 2 == 0};
    if (rule.by == OrderRule::By::kTag) rule.tag = kTagNames[random() % 3];
    program.order.push_back(rule);
  }
  return program;
}

Staff staff_for(const Program& program, const Timetable& timetable) {
  MarkedUnits marked{.units = timetable.units};
  marked.rule_of.assign(timetable.units.size(), kNoRule);
  return staff_of(program, marked, 1).value();
}

TEST(TakeTurns, EveryTurnIsTakenOnceByOneWhoMayAndAllCanRun) {
  std::mt19937_64 random(71);
  for (int round = 0; round < 200; ++round) {
    const WeightedGraph graph = test::random_graph(random);
    Timetable timetable = tagged_units(graph, random);
    const Program program = program_of(1 + random() % 4, random);
    const Staff staff = staff_for(program, timetable);
    auto turns = take_turns(program, timetable, staff, graph, static_cast<double>(random() % 2000));
    ASSERT_EQ(turns.size(), program.workers.size());
    for (std::size_t worker = 0; worker < turns.size(); ++worker) {
      for (const Turn& turn : turns[worker]) {
        EXPECT_NE(staff.welcome[worker][turn.unit], kRefused);
      }
    }
    timetable.phases.push_back({.workers = std::move(turns)});
    const auto checked = check(timetable, graph);
    EXPECT_TRUE(checked) << checked.error().message;
  }
}

/// Returns what one worker takes: of the ready turns always the first by welcome and order.
std::vector<Turn> turns_of_one(const Program& program, const Timetable& timetable,
                               const Staff& staff, const WeightedGraph& graph) {
  const auto dependencies = unit_dependencies(timetable, graph);
  const auto distances = distances_to_end(graph, 0);
  auto order = program.order;
  if (order.empty()) order = {{.by = OrderRule::By::kPath}, {.by = OrderRule::By::kPart}};
  std::vector<Turn> left;
  for (std::size_t unit = 0; unit < timetable.units.size(); ++unit) {
    const Parts parts = parts_of(timetable, unit);
    for (std::size_t part = parts.first; part < parts.last; ++part) left.push_back({unit, part});
  }
  const auto is_left = [&](Turn turn) { return std::ranges::find(left, turn) != left.end(); };
  const auto is_ready = [&](Turn turn) {
    for (const std::size_t unit : dependencies[turn.unit]) {
      const Parts parts = needed_parts(timetable, turn, unit);
      for (std::size_t part = parts.first; part < parts.last; ++part) {
        if (is_left({unit, part})) return false;
      }
    }
    return true;
  };
  const auto comes_first = [&](Turn a, Turn b) {
    const auto& welcome = staff.welcome[0];
    if (welcome[a.unit] != welcome[b.unit]) return welcome[a.unit] < welcome[b.unit];
    for (const OrderRule& rule : order) {
      const auto key = [&](Turn turn) -> double {
        if (rule.by == OrderRule::By::kTag)
          return timetable.units[turn.unit].tags[0] == rule.tag ? 0 : 1;
        const double value = rule.by == OrderRule::By::kPart ? static_cast<double>(turn.part)
                                                             : -distances[turn.unit];
        return rule.reversed ? -value : value;
      };
      if (key(a) != key(b)) return key(a) < key(b);
    }
    return false;  // the earlier one in the model stays
  };
  std::vector<Turn> taken;
  while (!left.empty()) {
    auto best = left.end();
    for (auto one = left.begin(); one != left.end(); ++one) {
      if (is_ready(*one) && (best == left.end() || comes_first(*one, *best))) best = one;
    }
    taken.push_back(*best);
    left.erase(best);
  }
  return taken;
}

TEST(TakeTurns, OneWorkerTakesTheFirstByWelcomeAndOrder) {
  std::mt19937_64 random(72);
  for (int round = 0; round < 200; ++round) {
    WeightedGraph graph = test::random_graph(random);
    for (WeightedNode& node : graph.nodes) node.cost += 1;  // no two turns end at once
    const Timetable timetable = tagged_units(graph, random);
    const Program program = program_of(1, random);
    const Staff staff = staff_for(program, timetable);
    EXPECT_THAT(take_turns(program, timetable, staff, graph, 50),
                ElementsAre(turns_of_one(program, timetable, staff, graph)));
  }
}

TEST(TakeTurns, AWorkerIsNotIdleIfThereIsSomethingForIt) {
  // Two chains, two workers that take everything: nobody waits for the other's values.
  const WeightedGraph graph = test::branches(2, 3, 10);
  Timetable timetable;
  for (std::size_t op = 0; op < graph.nodes.size(); ++op) {
    timetable.units.push_back({.operators = {op}, .tags = {"red"}});
  }
  const Staff staff{.welcome = {2, std::vector<std::size_t>(graph.nodes.size())}};
  timetable.phases.push_back({.workers = take_turns({}, timetable, staff, graph, 0)});
  EXPECT_EQ(makespan(timetable, graph, 0), 50);
}

TEST(TakeTurns, OfNothingIsNothing) {
  const Staff staff{.welcome = {{}, {}}};
  EXPECT_THAT(take_turns({}, {}, staff, {}, 1),
              ElementsAre(testing::IsEmpty(), testing::IsEmpty()));
}

MarkedUnits two_units() {
  MarkedUnits marked;
  marked.units = {{.operators = {0}, .name = "first", .tags = {"red", "blue"}},
                  {.operators = {1}, .name = "second", .tags = {"other"}}};
  marked.rule_of = {0, kNoRule};
  return marked;
}

TEST(StaffOf, WithoutWorkersAllTakeEverything) {
  for (const std::size_t workers : {0U, 1U, 5U}) {
    const auto staff = staff_of({}, two_units(), workers);
    ASSERT_TRUE(staff);
    EXPECT_EQ(staff->welcome.size(), std::max<std::size_t>(workers, 1));
    EXPECT_THAT(staff->welcome, Each(ElementsAre(0, 0)));
  }
}

TEST(StaffOf, TheFirstTagOfAWorkerIsTheMostWelcome) {
  Program program;
  program.units = {{.name = "rule"}};
  program.workers = {{.name = "a", .takes = {"green", "blue", "red"}}, {.name = "b"}};
  const auto staff = staff_of(program, two_units(), 9);
  ASSERT_TRUE(staff);
  EXPECT_THAT(staff->welcome, ElementsAre(ElementsAre(1, kRefused), ElementsAre(0, 0)));
}

TEST(StaffOf, ARuleWithAWorkerIsOnlyThatWorkers) {
  Program program;
  program.units = {{.name = "rule", .worker = "b"}};
  program.workers = {{.name = "a"}, {.name = "b", .takes = {"other"}}};
  const auto staff = staff_of(program, two_units(), 9);
  ASSERT_TRUE(staff);
  EXPECT_THAT(staff->welcome, ElementsAre(ElementsAre(kRefused, 0), ElementsAre(0, 0)));
}

TEST(StaffOf, AUnitThatNobodyTakesIsRefused) {
  Program program;
  program.units = {{.name = "rule"}};
  program.workers = {{.name = "a", .takes = {"other"}}};
  const auto marked = staff_of(program, two_units(), 1);
  ASSERT_FALSE(marked);
  EXPECT_EQ(marked.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(marked.error().message,
            "no worker takes the tag red or blue of unit \"first\", of units[0] (rule): add it to "
            "what a worker takes");
  program.workers = {{.name = "a", .takes = {"red"}}};
  const auto unmarked = staff_of(program, two_units(), 1);
  ASSERT_FALSE(unmarked);
  EXPECT_THAT(unmarked.error().message, HasSubstr("unit \"second\", which no rule marks"));
}

}  // namespace
}  // namespace pareto::schedules
