#include "partitioner/planning/tasks/task_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "partitioner/planning/tasks/assignment_check.h"
#include "partitioner/planning/tasks/task_timeline.h"
#include "partitioner/planning/tasks/worker_plans.h"
#include "tests/partitioner/planning/tasks/random_problems.h"

namespace pareto::tasks {
namespace {

using testing::HasSubstr;

class EverySchedule : public testing::TestWithParam<TaskSchedule> {
 protected:
  /// Assigns, checks, predicts and checks again.
  static Timeline run(const Problem& problem) {
    const Assignment assignment = GetParam().assign(problem);
    const auto fits = check(assignment, problem);
    EXPECT_TRUE(fits) << fits.error().message;
    Timeline timeline = predict(problem, assignment);
    const auto whole = check(timeline, problem);
    EXPECT_TRUE(whole) << whole.error().message;
    return timeline;
  }
};

TEST_P(EverySchedule, RunsEachStageOnceAndInOrder) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    run(random_problem(random, {.arrivals = trial % 2 == 0, .devices = trial % 3 == 0}));
  }
}

TEST_P(EverySchedule, IsWithinTheBoundOfListScheduling) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 300; ++trial) {
    const Problem problem = random_problem(random, {});
    // A worker never idles while a stage is ready: Graham's bound, with chains.
    Nanoseconds sum{};
    Nanoseconds longest{};
    for (const PlannedTask& task : problem.tasks) {
      sum += task.time_from(0);
      longest = std::max(longest, task.time_from(0));
    }
    const Nanoseconds makespan = run(problem).makespan();
    EXPECT_GE(makespan, lower_bound(problem));
    if (GetParam().name == "heft" || GetParam().name == "eft") continue;  // they have own queues
    EXPECT_LE(makespan, sum / static_cast<long>(problem.workers.size()) + longest);
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, EverySchedule, testing::ValuesIn(builtin_task_schedules()),
                         [](const auto& one) { return one.param.name; });

Problem whole_tasks(const std::vector<int>& times, std::size_t workers) {
  Problem problem;
  problem.workers.resize(workers);
  for (const int time : times) {
    problem.tasks.push_back({.stages = {{.time = Nanoseconds(time)}}});
  }
  return problem;
}

Nanoseconds makespan(const char* schedule, const Problem& problem) {
  return predict(problem, find_task_schedule(schedule).value()->assign(problem)).makespan();
}

TEST(TaskSchedule, LongestFirstLeavesLessAtTheEnd) {
  const Problem problem = whole_tasks({1, 1, 1, 1, 4}, 2);
  EXPECT_EQ(makespan("queue", problem).count(), 6);
  EXPECT_EQ(makespan("longest", problem).count(), 4);
  EXPECT_EQ(makespan("heft", problem).count(), 4);
  EXPECT_EQ(makespan("stealing", problem).count(), 4);
}

TEST(TaskSchedule, ASplitTaskFillsWhatIsUneven) {
  Problem problem = whole_tasks({10, 10, 10}, 2);
  EXPECT_EQ(makespan("heft", problem).count(), 20);
  problem.tasks[0].stages = {{.time = Nanoseconds(5)}, {.time = Nanoseconds(5)}};
  EXPECT_EQ(makespan("heft", problem).count(), 15);
  EXPECT_EQ(makespan("longest", problem).count(), 15);
}

TEST(TaskSchedule, EftPlacesOfAllStagesTheOneThatEndsFirst) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const Problem problem =
        random_problem(random, {.arrivals = trial % 2 == 0, .devices = trial % 3 == 0});
    WorkerPlans plans(problem);
    std::vector<Turn> ready;
    for (std::size_t task = 0; task < problem.tasks.size(); ++task) ready.push_back({task, 0});
    while (!ready.empty()) {
      const auto end = [&](Turn turn) { return plans.earliest_finish(turn).finish; };
      const auto first = std::ranges::min_element(ready, {}, end);
      plans.place(*first, plans.earliest_finish(*first));
      if (++first->stage == problem.tasks[first->task].stages.size()) ready.erase(first);
    }
    ASSERT_EQ(assign_eft(problem).queues, plans.assignment().queues) << "trial " << trial;
  }
}

/// Two devices with a worker each, and tasks of one stage that takes 10 on the first and 30 on the
/// second, of which 20 are transfer.
Problem near_and_far(std::size_t tasks) {
  Problem problem;
  problem.workers = {{.device = 0}, {.device = 1}};
  const StageCost stage{.time = Nanoseconds(20), .on_device = {Nanoseconds(10), Nanoseconds(30)}};
  problem.tasks.assign(tasks, {.stages = {stage}});
  return problem;
}

TEST(TaskSchedule, PlacementCountsWhatADeviceTakesWithTransfer) {
  for (const char* schedule : {"heft", "eft"}) {
    EXPECT_EQ(makespan(schedule, near_and_far(2)).count(), 20)
        << schedule << ": the near one runs both";
    EXPECT_EQ(makespan(schedule, near_and_far(4)).count(), 30)
        << schedule << ": the far one takes one of four";
  }
  EXPECT_EQ(makespan("queue", near_and_far(2)).count(), 30) << "it does not look at times";
}

TEST(TaskSchedule, EarliestDeadlineFirstMeetsWhatTheQueueMisses) {
  Problem problem = whole_tasks({10, 10, 10, 1, 1}, 1);
  problem.tasks[3].deadline = Nanoseconds(5);
  problem.tasks[4].deadline = Nanoseconds(3);
  const auto misses = [&](const char* name) {
    const auto assignment = find_task_schedule(name).value()->assign(problem);
    return figures_of(predict(problem, assignment), problem, {}).misses;
  };
  EXPECT_EQ(misses("queue"), 2U);
  EXPECT_EQ(misses("deadline"), 0U);
}

TEST(TaskSchedule, PriorityGoesFirst) {
  Problem problem = whole_tasks({10, 10, 1}, 1);
  problem.tasks[2].priority = 1;
  EXPECT_EQ(predict(problem, assign_priority(problem)).spans.front().turn.task, 2U);
}

TEST(TaskSchedule, UnknownNamesAreRefusedWithTheNearest) {
  const auto found = find_task_schedule("hefty");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(found.error().message, HasSubstr("did you mean heft"));
}

TEST(TaskTimeline, FiguresAreThoseOfTheTimeline) {
  Problem problem = whole_tasks({4, 2}, 2);
  problem.tasks[1].arrival = Nanoseconds(1);
  problem.tasks[1].deadline = Nanoseconds(2);
  const auto figures = figures_of(predict(problem, assign_queue(problem)), problem,
                                  {Nanoseconds(4), Nanoseconds(1)});
  EXPECT_EQ(figures.makespan.count(), 4);
  EXPECT_EQ(figures.done, 2U);
  EXPECT_EQ(figures.misses, 1U);
  EXPECT_EQ(figures.tasks[1].completion.count(), 2);
  EXPECT_DOUBLE_EQ(figures.tasks[1].slowdown, 2);
  EXPECT_DOUBLE_EQ(figures.mean_slowdown, 1.5);
  EXPECT_DOUBLE_EQ(figures.workers[0].share, 1);
  EXPECT_DOUBLE_EQ(figures.workers[1].share, 0.5);
  EXPECT_DOUBLE_EQ(figures.throughput_per_s, 5e8);
}

TEST(TaskTimeline, ACheckFindsWhatIsMissingOrOutOfOrder) {
  const Problem problem = whole_tasks({1, 1}, 1);
  EXPECT_THAT(check(Assignment{.queues = {{{0, 0}}}}, problem).error().message,
              HasSubstr("task 1: stage 0 is never run"));
  EXPECT_THAT(check(Assignment{.queues = {{{0, 0}, {0, 0}, {1, 0}}}}, problem).error().message,
              HasSubstr("twice"));
  EXPECT_THAT(check(Assignment{.queues = {{{0, 1}}}}, problem).error().message,
              HasSubstr("no stage 1"));
  const Timeline at_once{
      {{{0, 0}, 0, Nanoseconds(0), Nanoseconds(2)}, {{1, 0}, 0, Nanoseconds(1), Nanoseconds(3)}}};
  EXPECT_THAT(check(at_once, problem).error().message, HasSubstr("two stages at a time"));
}

TEST(TaskTimeline, ACheckFindsQueuesThatNobodyTakesFrom) {
  const Problem problem = whole_tasks({1, 1}, 2);
  Assignment assignment{.queues = {{{0, 0}}, {{1, 0}}}, .queue_of = {0, 0}};
  EXPECT_THAT(check(assignment, problem).error().message,
              HasSubstr("no worker takes from queue 1"));
  assignment.queue_of = {0, 2};
  EXPECT_THAT(check(assignment, problem).error().message, HasSubstr("worker 1 has no queue 2"));
  assignment.queue_of = {0};
  EXPECT_THAT(check(assignment, problem).error().message, HasSubstr("1 queues for 2 workers"));
  assignment.queue_of = {1, 0};
  EXPECT_TRUE(check(assignment, problem));
  for (const StageSpan& span : predict(problem, assignment).spans) {
    EXPECT_EQ(span.worker, 1 - span.turn.task);
  }
}

}  // namespace
}  // namespace pareto::tasks
