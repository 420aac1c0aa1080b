#include "partitioner/planning/tasks/task_mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace pareto::tasks {
namespace {

using testing::HasSubstr;

TEST(TaskMix, RatioIsTheShareOfHeavyTasks) {
  EXPECT_DOUBLE_EQ(parse_ratio("1:2").value(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(parse_ratio("1:1").value(), 0.5);
  EXPECT_DOUBLE_EQ(parse_ratio("0:3").value(), 0);
  EXPECT_DOUBLE_EQ(parse_ratio("2:0").value(), 1);
  for (const char* wrong : {"0:0", "1", "1:2:3", "a:b", "-1:2", "", "1:", "nan:1", "1e9:1"}) {
    const auto ratio = parse_ratio(wrong);
    ASSERT_FALSE(ratio) << wrong;
    EXPECT_THAT(ratio.error().message, HasSubstr(wrong));
  }
}

TEST(TaskMix, HasAsManyHeavyTasksAsItsShare) {
  MixOptions options{.tasks = 10, .heavy_share = 1.0 / 3};
  const auto set = make_mix(options);
  ASSERT_TRUE(set);
  std::size_t heavy = 0;
  for (const Task& task : set->tasks) heavy += set->models[task.model].model == "resnet50" ? 1 : 0;
  EXPECT_EQ(heavy, 3U);
  const auto again = make_mix(options);
  options.seed = 2;
  const auto other = make_mix(options);
  bool differs = false;
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(set->tasks[i].model, again->tasks[i].model);
    differs = differs || set->tasks[i].model != other->tasks[i].model;
  }
  EXPECT_TRUE(differs);
}

TEST(TaskMix, RefusesNoTasksAndTooMany) {
  EXPECT_THAT(make_mix({.tasks = 0}).error().message, HasSubstr("no tasks"));
  EXPECT_THAT(make_mix({.tasks = kMostTasks + 1}).error().message, HasSubstr("at most"));
}

TEST(TaskMix, PoissonArrivalsHaveTheirRate) {
  std::mt19937_64 random(3);
  const auto arrivals = parse_arrivals("poisson:50/s", "");
  ASSERT_TRUE(arrivals);
  const auto times = arrival_times(*arrivals, 10'000, random);
  EXPECT_TRUE(std::ranges::is_sorted(times));
  EXPECT_NEAR(to_seconds(times.back()), 200, 10);
}

TEST(TaskMix, TasksThatComeAfterADayAreRefused) {
  MixOptions options;
  options.tasks = 100;
  for (const char* rate : {"poisson:0.0005/s", "poisson:0.000000000000000000001/s"}) {
    options.arrivals = parse_arrivals(rate, "").value();
    const auto mix = make_mix(options);
    ASSERT_FALSE(mix) << rate;
    EXPECT_THAT(mix.error().message, HasSubstr("comes more than 24 hours after the start"));
    std::mt19937_64 random(1);
    const auto times = arrival_times(options.arrivals, 10'000, random);
    EXPECT_TRUE(std::ranges::is_sorted(times)) << "no overflow";
  }
  options.arrivals = parse_arrivals("poisson:50/s", "").value();
  options.deadline = Nanoseconds::max();
  const TaskSet set = make_mix(options).value();
  for (const Task& task : set.tasks) EXPECT_GT(*task.deadline, task.arrival);
}

TEST(TaskMix, DeadlinesCountFromArrivals) {
  MixOptions options{.tasks = 3, .deadline = Nanoseconds(5)};
  options.arrivals = parse_arrivals("poisson:50/s", "").value();
  const auto set = make_mix(options);
  for (const Task& task : set->tasks) {
    EXPECT_EQ(*task.deadline, task.arrival + Nanoseconds(5));
  }
}

}  // namespace
}  // namespace pareto::tasks
