#include "coordinator/tasks/task_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "partitioner/planning/tasks/assignment_check.h"
#include "partitioner/planning/tasks/task_schedule.h"
#include "tests/partitioner/planning/tasks/random_problems.h"

namespace pareto::tasks {
namespace {

using testing::HasSubstr;

/// A worker whose stages append their number to the text that they are handed.
class NotingWorker : public Worker {
 public:
  explicit NotingWorker(std::function<Expected<>(StageId)> before = {})
      : before_(std::move(before)) {}
  Expected<std::string> load(StageId, const plan::Shard&, const runtime::WeightSource&,
                             const runtime::RunnerOptions&) override {
    return std::string("none");
  }
  void unload(StageId) override {}
  Expected<std::vector<Value>> run(StageId stage, std::vector<Value> inputs) override {
    if (before_) PARETO_TRY(before_(stage));
    return std::vector<Value>{*inputs.front().get_if<std::string>() + " " + std::to_string(stage)};
  }

 private:
  std::function<Expected<>(StageId)> before_;
};

/// A worker of a device that is lost when it is to run for the `last`th time.
class LosingWorker final : public NotingWorker {
 public:
  explicit LosingWorker(int last) : left_(last) {}
  Expected<std::vector<Value>> run(StageId stage, std::vector<Value> inputs) override {
    if (--left_ <= 0) return fail(ErrorCode::kUnavailable, "server: it is gone");
    return NotingWorker::run(stage, std::move(inputs));
  }
  bool may_be_lost() const override { return true; }
  bool is_lost() const override { return left_ <= 0; }

 private:
  std::atomic<int> left_;
};

/// Checks that a task's output is what all its stages make, each once.
void expect_whole(const Problem& problem, const TaskRun& run, std::size_t task) {
  std::string expected = std::to_string(task);
  for (std::size_t i = 0; i < problem.tasks[task].stages.size(); ++i) {
    expected += " " + std::to_string(i);
  }
  ASSERT_FALSE(run.outputs[task].empty()) << task;
  EXPECT_EQ(*run.outputs[task].front().get_if<std::string>(), expected);
}

std::vector<TaskJob> jobs_for(const Problem& problem) {
  std::vector<TaskJob> jobs;
  for (std::size_t task = 0; task < problem.tasks.size(); ++task) {
    TaskJob& job = jobs.emplace_back();
    for (std::size_t i = 0; i < problem.tasks[task].stages.size(); ++i) job.stages.push_back(i);
    job.inputs = {std::to_string(task)};
  }
  return jobs;
}

Workers workers_for(const Problem& problem, const std::function<Expected<>(StageId)>& before = {}) {
  Workers workers;
  for (std::size_t i = 0; i < problem.workers.size(); ++i) {
    workers.push_back(std::make_unique<NotingWorker>(before));
  }
  return workers;
}

TEST(TaskRunner, RunsWhatEveryScheduleAssigns) {
  std::mt19937 random(4);
  const std::atomic<bool> never{false};
  for (int trial = 0; trial < 40; ++trial) {
    // Arrivals are some microseconds apart.
    const Problem problem = random_problem(random, {.arrivals = trial % 2 == 0});
    WorkerCrew crew(problem.workers.size(), WorkerCrew::Cores::kAny);
    for (const TaskSchedule& schedule : builtin_task_schedules()) {
      const auto run = run_tasks(crew, workers_for(problem), problem, schedule.assign(problem),
                                 jobs_for(problem), never);
      ASSERT_TRUE(run) << run.error().message;
      EXPECT_FALSE(run->stopped);
      const auto whole = check(run->timeline, problem);
      EXPECT_TRUE(whole) << schedule.name << ": " << whole.error().message;
      for (std::size_t task = 0; task < problem.tasks.size(); ++task) {
        expect_whole(problem, *run, task);
      }
    }
  }
}

TEST(TaskRunner, AStopLeavesWhatWasDone) {
  Problem problem;
  problem.workers.resize(1);
  problem.tasks.assign(5, {.stages = {{}, {}}});
  std::atomic<bool> stop{false};
  int runs = 0;
  const auto before = [&](StageId) -> Expected<> {
    stop = ++runs == 3;
    return {};
  };
  WorkerCrew crew(1, WorkerCrew::Cores::kAny);
  const auto run = run_tasks(crew, workers_for(problem, before), problem, assign_queue(problem),
                             jobs_for(problem), stop);
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->stopped);
  EXPECT_EQ(run->timeline.spans.size(), 3U) << "the stage in hand is ended";
  EXPECT_FALSE(run->outputs[0].empty());
  EXPECT_TRUE(run->outputs[1].empty());
  const RunFigures figures = figures_of(run->timeline, problem, {});
  EXPECT_EQ(figures.done, 1U);
}

TEST(TaskRunner, AStopWakesWhoWaitsForATask) {
  Problem problem;
  problem.workers.resize(2);
  problem.tasks = {{.stages = {{}}}, {.arrival = std::chrono::hours(1), .stages = {{}}}};
  std::atomic<bool> stop{false};
  const auto before = [&](StageId) -> Expected<> {
    stop = true;
    return {};
  };
  WorkerCrew crew(2, WorkerCrew::Cores::kAny);
  const auto run = run_tasks(crew, workers_for(problem, before), problem, assign_queue(problem),
                             jobs_for(problem), stop);
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->stopped);
}

TEST(TaskRunner, AnErrorNamesTaskAndStage) {
  Problem problem;
  problem.workers.resize(2);
  problem.tasks.assign(4, {.stages = {{}, {}}});
  const auto before = [&](StageId stage) -> Expected<> {
    if (stage == 1) return fail(ErrorCode::kExhausted, "no memory");
    return {};
  };
  const std::atomic<bool> never{false};
  WorkerCrew crew(2, WorkerCrew::Cores::kPinned);
  const auto run = run_tasks(crew, workers_for(problem, before), problem, assign_queue(problem),
                             jobs_for(problem), never);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(run.error().message, HasSubstr("stage 1: no memory"));
}

TEST(TaskRunner, OthersRunWhatALostWorkerLeft) {
  std::mt19937 random(8);
  const std::atomic<bool> never{false};
  std::size_t lost = 0;
  for (int trial = 0; trial < 60; ++trial) {
    Problem problem = random_problem(random, {.devices = true});
    problem.workers = {{.device = 0}, {.device = 0}, {.device = 1}};
    WorkerCrew crew(3, WorkerCrew::Cores::kAny);
    for (const TaskSchedule& schedule : builtin_task_schedules()) {
      Workers workers = workers_for(problem);
      workers[trial % 3] = std::make_unique<LosingWorker>(1 + trial / 3 % 4);
      const auto run =
          run_tasks(crew, workers, problem, schedule.assign(problem), jobs_for(problem), never);
      ASSERT_TRUE(run) << run.error().message;
      EXPECT_FALSE(run->stopped);
      EXPECT_LE(run->losses.size(), 1U);
      lost += run->losses.size();
      EXPECT_TRUE(check(run->timeline, problem)) << schedule.name;
      for (std::size_t task = 0; task < problem.tasks.size(); ++task) {
        expect_whole(problem, *run, task);
      }
    }
  }
  EXPECT_GT(lost, 100U);
}

/// Two workers of one device: what one of them loses, the other has lost too.
TEST(TaskRunner, AWorkerWhoseDeviceAnotherLostLeavesItsQueueToOthers) {
  class Shared final : public NotingWorker {
   public:
    Shared(std::atomic<bool>& lost, bool fails) : lost_(lost), fails_(fails) {}
    Expected<std::vector<Value>> run(StageId stage, std::vector<Value> inputs) override {
      if (fails_) {
        lost_ = true;
        return fail(ErrorCode::kTimeout, "no answer");
      }
      return NotingWorker::run(stage, std::move(inputs));
    }
    bool may_be_lost() const override { return true; }
    bool is_lost() const override { return lost_; }

   private:
    std::atomic<bool>& lost_;
    const bool fails_;
  };
  Problem problem;
  problem.workers = {{.device = 0}, {.device = 0}, {.device = 1}};
  problem.tasks.assign(12, {.stages = {{}}});
  const std::atomic<bool> never{false};
  for (int trial = 0; trial < 50; ++trial) {
    std::atomic<bool> lost{false};
    Workers workers;
    workers.push_back(std::make_unique<Shared>(lost, true));
    workers.push_back(std::make_unique<Shared>(lost, false));
    workers.push_back(std::make_unique<NotingWorker>());
    WorkerCrew crew(3, WorkerCrew::Cores::kAny);
    // A queue for each: those of the lost two are for the third.
    Assignment assignment;
    assignment.queues.resize(3);
    for (std::size_t i = 0; i < 12; ++i) assignment.queues[i % 3].push_back({i, 0});
    const auto run = run_tasks(crew, workers, problem, assignment, jobs_for(problem), never);
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_LE(run->losses.size(), 1U);
    for (std::size_t task = 0; task < 12; ++task) expect_whole(problem, *run, task);
  }
}

TEST(TaskRunner, WhatNobodyIsLeftToRunIsNotDone) {
  Problem problem;
  problem.workers = {{.device = 0}, {.device = 1}};
  problem.tasks.assign(5, {.stages = {{}, {}}});
  const std::atomic<bool> never{false};
  WorkerCrew crew(2, WorkerCrew::Cores::kAny);
  Workers workers;
  for (int i = 0; i < 2; ++i) workers.push_back(std::make_unique<LosingWorker>(3));
  const auto run =
      run_tasks(crew, workers, problem, assign_queue(problem), jobs_for(problem), never);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->losses.size(), 2U);
  EXPECT_THAT(run->losses.front().error.message, HasSubstr("server: it is gone"));
  EXPECT_EQ(run->timeline.spans.size(), 4U) << "two stages by each";
  EXPECT_EQ(figures_of(run->timeline, problem, {}).done,
            static_cast<std::size_t>(std::ranges::count_if(
                run->outputs, [](const auto& outputs) { return !outputs.empty(); })));
  const auto again =
      run_tasks(crew, workers, problem, assign_queue(problem), jobs_for(problem), never);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->timeline.spans.empty()) << "they stay lost";
}

TEST(TaskRunner, MoreWorkersThanCoresRunAllTasks) {
  Problem problem;
  problem.workers.resize(9);
  problem.tasks.assign(30, {.stages = {{}}});
  const std::atomic<bool> never{false};
  WorkerCrew crew(9, WorkerCrew::Cores::kPinned);
  const auto run = run_tasks(crew, workers_for(problem), problem, assign_queue(problem),
                             jobs_for(problem), never);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->timeline.spans.size(), 30U);
}

}  // namespace
}  // namespace pareto::tasks
