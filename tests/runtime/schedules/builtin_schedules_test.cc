// What every schedule in the list owes, on random graphs and for any number of workers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "runtime/schedules/clusters.h"
#include "runtime/schedules/schedule.h"
#include "tests/runtime/schedules/graphs.h"

namespace pareto::schedules {
namespace {

using testing::HasSubstr;

double shared_total(const WeightedGraph& graph) {
  double sum = 0;
  for (const WeightedNode& node : graph.nodes) sum += node.shared_cost();
  return sum;
}

/// Returns the longest way, if each operator takes the lesser of its costs.
double shortest_possible(WeightedGraph graph) {
  for (WeightedNode& node : graph.nodes) node.cost = std::min(node.cost, node.shared_cost());
  return critical_path(graph);
}

TEST(Schedules, SequentialIsTheFirst) {
  EXPECT_EQ(schedule_names().front(), "sequential");
  EXPECT_EQ(schedule_names().size(), builtin_schedules().size());
  for (const ScheduleEntry& schedule : builtin_schedules()) {
    EXPECT_TRUE(schedule.about.ends_with(".")) << schedule.name;
  }
}

TEST(Schedules, AllMakeTimetablesThatCanRun) {
  std::mt19937_64 random(36);
  for (int i = 0; i < 300; ++i) {
    ScheduleRequest request;
    request.graph = test::random_graph(random);
    request.workers = 1 + random() % 8;
    request.batch = 1 + static_cast<std::int64_t>(random() % 4);
    request.may_split = random() % 2 == 0;
    request.hand_off = static_cast<double>(random() % 3) * 700;
    request.program = "{}";
    const double least = shortest_possible(request.graph);
    for (const ScheduleEntry& schedule : builtin_schedules()) {
      SCOPED_TRACE(schedule.name + ", graph " + std::to_string(i));
      const auto timetable = schedule.make(request);
      ASSERT_TRUE(timetable) << timetable.error().message;
      const auto checked = check(*timetable, request.graph);
      ASSERT_TRUE(checked) << checked.error().message;
      EXPECT_LE(timetable->workers(), request.workers);
      for (const Unit& unit : timetable->units) EXPECT_FALSE(unit.name.empty());
      const double span = makespan(*timetable, request.graph, request.hand_off);
      EXPECT_GE(span * static_cast<double>(timetable->parts), least * (1 - 1e-9));
      if (timetable->workers() == 1) {
        EXPECT_LE(span, std::max(total_cost(request.graph), shared_total(request.graph)) + 1e-6);
      }
      EXPECT_GE(
          peak_bytes(*timetable, request.graph),
          std::ranges::max(request.graph.nodes, {}, &WeightedNode::output_bytes).output_bytes /
              timetable->parts);
    }
  }
}

TEST(Schedules, BadRequestsAreRefused) {
  ScheduleRequest good;
  good.graph = test::branches(2, 2, 1);
  good.program = "{}";
  for (const ScheduleEntry& schedule : builtin_schedules()) {
    SCOPED_TRACE(schedule.name);
    ScheduleRequest request = good;
    request.workers = 0;
    ASSERT_FALSE(schedule.make(request));
    EXPECT_THAT(schedule.make(request).error().message, HasSubstr("a schedule for 0 workers"));
    request.workers = std::numeric_limits<std::size_t>::max();
    ASSERT_FALSE(schedule.make(request));
    EXPECT_EQ(schedule.make(request).error().code, ErrorCode::kInvalidArgument);
    request = good;
    request.batch = 0;
    EXPECT_FALSE(schedule.make(request));
    request = good;
    request.hand_off = -1;
    EXPECT_FALSE(schedule.make(request));
    request = good;
    request.graph.nodes[1].after = {5};
    ASSERT_FALSE(schedule.make(request));
    EXPECT_THAT(schedule.make(request).error().message, HasSubstr("which is not before it"));
  }
}

TEST(Schedules, AnEmptyGraphIsNothingToRun) {
  for (const ScheduleEntry& schedule : builtin_schedules()) {
    SCOPED_TRACE(schedule.name);
    const auto timetable =
        schedule.make({.workers = 2, .batch = 4, .may_split = true, .program = "{}"});
    ASSERT_TRUE(timetable) << timetable.error().message;
    EXPECT_TRUE(check(*timetable, {}));
    EXPECT_TRUE(timetable->units.empty());
    EXPECT_EQ(timetable->workers(), 1U);
    EXPECT_EQ(timetable->parts, 1U);
  }
}

TEST(Schedules, MoreWorkersThanOperatorsAreAllowed) {
  for (const ScheduleEntry& schedule : builtin_schedules()) {
    SCOPED_TRACE(schedule.name);
    ScheduleRequest request;
    request.graph = test::branches(3, 2, 1000);
    request.workers = 500;
    request.hand_off = 0;
    request.program = "{}";
    const auto timetable = schedule.make(request);
    ASSERT_TRUE(timetable) << timetable.error().message;
    EXPECT_TRUE(check(*timetable, request.graph));
    EXPECT_LE(timetable->workers(), 3U);
  }
}

}  // namespace
}  // namespace pareto::schedules
