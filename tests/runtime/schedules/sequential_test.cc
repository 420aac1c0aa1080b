#include <gtest/gtest.h>

#include <cmath>

#include "runtime/schedules/assignment.h"
#include "runtime/schedules/schedule.h"
#include "tests/runtime/schedules/graphs.h"

namespace pareto::schedules {
namespace {

TEST(Sequential, RunsEveryOperatorInOneUnitWithAllThreads) {
  std::mt19937_64 random(21);
  for (int i = 0; i < 50; ++i) {
    ScheduleRequest request;
    request.graph = test::random_graph(random);
    request.workers = 1 + random() % 8;
    request.batch = 4;
    request.may_split = true;
    const auto timetable = make_sequential(request);
    ASSERT_TRUE(timetable) << timetable.error().message;
    ASSERT_TRUE(check(*timetable, request.graph));
    EXPECT_EQ(timetable->parts, 1U);
    ASSERT_EQ(timetable->units.size(), 1U);
    ASSERT_EQ(timetable->phases.size(), 1U);
    EXPECT_TRUE(timetable->phases[0].all_threads);
    double sum = 0;
    for (std::size_t op = 0; op < request.graph.nodes.size(); ++op) {
      EXPECT_EQ(timetable->units[0].operators[op], op);
      sum += request.graph.nodes[op].shared_cost();
    }
    EXPECT_NEAR(makespan(*timetable, request.graph, 1e9), sum, 1e-6) << "nothing is handed over";
  }
}

TEST(Sequential, NothingToRunIsATimetableToo) {
  const auto timetable = make_sequential({});
  ASSERT_TRUE(timetable);
  EXPECT_TRUE(timetable->units.empty());
  EXPECT_TRUE(check(*timetable, {}));
  EXPECT_EQ(makespan(*timetable, {}, 5), 0);
}

TEST(Sequential, RefusesWhatNoScheduleIsMadeFor) {
  const auto refused = [](const auto& change) {
    ScheduleRequest request;
    request.graph = test::branches(1, 1, 1);
    change(request);
    const auto timetable = make_sequential(request);
    return !timetable && timetable.error().code == ErrorCode::kInvalidArgument;
  };
  EXPECT_FALSE(refused([](ScheduleRequest& request) { request.workers = kMostWorkers; }));
  EXPECT_TRUE(refused([](ScheduleRequest& request) { request.workers = 0; }));
  EXPECT_TRUE(refused([](ScheduleRequest& request) { request.workers = kMostWorkers + 1; }));
  EXPECT_TRUE(refused([](ScheduleRequest& request) { request.batch = 0; }));
  EXPECT_TRUE(refused([](ScheduleRequest& request) { request.batch = -5; }));
  EXPECT_TRUE(refused([](ScheduleRequest& request) { request.hand_off = -1; }));
  EXPECT_TRUE(refused([](ScheduleRequest& request) { request.hand_off = std::nan(""); }));
  EXPECT_TRUE(refused([](ScheduleRequest& request) { request.graph.nodes[0].after = {0}; }));
}

}  // namespace
}  // namespace pareto::schedules
