#include "partitioner/planning/tasks/plan_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pareto::tasks {
namespace {

using testing::AllOf;
using testing::HasSubstr;

StageCost cost(int ms) { return {.time = std::chrono::milliseconds(ms)}; }

/// `heavy` tasks of 10 ms, which can be cut in two equal stages, and `light` ones of 1 ms.
PlanRequest request(std::size_t heavy, std::size_t light, std::size_t workers = 2) {
  PlanRequest request;
  request.set.models = {{.model = "heavy"}, {.model = "light"}};
  for (std::size_t i = 0; i < heavy; ++i) request.set.tasks.push_back({.model = 0});
  for (std::size_t i = 0; i < light; ++i) request.set.tasks.push_back({.model = 1});
  request.models = {{.whole = cost(10), .stages = {cost(5), cost(5)}}, {.whole = cost(1)}};
  request.workers.resize(workers);
  return request;
}

TEST(PlanChoice, SplitsOneOfAnOddNumberOfHeavyTasks) {
  const auto plan = choose_plan(request(3, 0));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->splits(), 1U);
  EXPECT_EQ(plan->predicted.makespan(), std::chrono::milliseconds(15));
  EXPECT_THAT(plan->reason, AllOf(HasSubstr("1 of 3 heavy in 2 stages"),
                                  HasSubstr("15 ms predicted"), HasSubstr("whole tasks 20 ms")));
}

TEST(PlanChoice, KeepsTasksWholeWhereASplitGainsNothing) {
  const auto plan = choose_plan(request(4, 2));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->splits(), 0U);
  EXPECT_EQ(plan->schedule, "queue") << "the simplest of equals";
  EXPECT_THAT(plan->reason, HasSubstr("every task is whole"));
}

TEST(PlanChoice, NeverAndAlwaysAreObeyed) {
  PlanRequest never = request(3, 0);
  never.splitting = Splitting::kNever;
  EXPECT_EQ(choose_plan(never)->splits(), 0U);
  PlanRequest always = request(4, 2);
  always.splitting = Splitting::kAlways;
  EXPECT_EQ(choose_plan(always)->splits(), 4U) << "those that are cut";
}

TEST(PlanChoice, IsNeverWorseThanThePlainQueue) {
  for (std::size_t heavy = 0; heavy < 8; ++heavy) {
    for (std::size_t light = 1; light < 8; ++light) {
      const PlanRequest all = request(heavy, light, 1 + (heavy + light) % 3);
      const auto best = choose_plan(all);
      const auto queue = plan_by(all, "queue", std::vector<bool>(heavy + light, false));
      EXPECT_LE(best->predicted.makespan(), queue->predicted.makespan());
    }
  }
}

TEST(PlanChoice, FewerMissedDeadlinesCountMoreThanTheEnd) {
  PlanRequest all = request(4, 2, 1);
  all.set.tasks[4].deadline = std::chrono::milliseconds(2);
  all.set.tasks[5].deadline = std::chrono::milliseconds(2);
  const auto plan = choose_plan(all);
  EXPECT_EQ(figures_of(plan->predicted, plan->problem, {}).misses, 0U);
}

TEST(PlanChoice, PrioritiesAreKept) {
  PlanRequest all = request(2, 1, 1);
  all.set.tasks[2].priority = 1;
  EXPECT_EQ(choose_plan(all)->schedule, "priority");
}

TEST(PlanChoice, OneScheduleIsTakenIfItIsNamed) {
  PlanRequest all = request(3, 2);
  all.schedule = "eft";
  EXPECT_EQ(choose_plan(all)->schedule, "eft");
  all.schedule = "none";
  EXPECT_EQ(choose_plan(all).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace pareto::tasks
