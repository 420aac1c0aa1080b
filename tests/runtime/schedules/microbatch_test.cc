#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/schedules/schedule.h"
#include "tests/runtime/schedules/graphs.h"

namespace pareto::schedules {
namespace {

using testing::ElementsAre;

Timetable made(std::size_t workers, std::int64_t batch, bool may_split) {
  ScheduleRequest request;
  request.graph = test::branches(2, 3, 10, 6);
  request.workers = workers;
  request.batch = batch;
  request.may_split = may_split;
  Timetable timetable = make_microbatch(request).value();
  EXPECT_TRUE(check(timetable, request.graph));
  return timetable;
}

TEST(Microbatch, EachWorkerRunsAPart) {
  const Timetable timetable = made(4, 8, true);
  EXPECT_EQ(timetable.parts, 4U);
  ASSERT_EQ(timetable.units.size(), 1U);
  EXPECT_EQ(timetable.units[0].operators.size(), 8U);
  ASSERT_EQ(timetable.phases.size(), 1U);
  EXPECT_FALSE(timetable.phases[0].all_threads);
  EXPECT_THAT(timetable.phases[0].workers,
              ElementsAre(ElementsAre(Turn{0, 0}), ElementsAre(Turn{0, 1}), ElementsAre(Turn{0, 2}),
                          ElementsAre(Turn{0, 3})));
  EXPECT_EQ(makespan(timetable, test::branches(2, 3, 10, 6), 100), 80 / 4.0);
}

TEST(Microbatch, NoPartIsEmpty) {
  EXPECT_EQ(made(4, 3, true).parts, 3U);
  EXPECT_EQ(made(4, 3, true).workers(), 3U);
}

TEST(Microbatch, WhatMayNotBeSplitIsSequential) {
  for (const Timetable& timetable : {made(4, 1, true), made(4, 8, false), made(1, 8, true)}) {
    EXPECT_EQ(timetable.parts, 1U);
    ASSERT_EQ(timetable.phases.size(), 1U);
    EXPECT_TRUE(timetable.phases[0].all_threads);
    EXPECT_THAT(timetable.phases[0].workers, ElementsAre(ElementsAre(Turn{0, 0})));
  }
}

}  // namespace
}  // namespace pareto::schedules
