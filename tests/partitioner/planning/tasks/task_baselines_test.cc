#include "partitioner/planning/tasks/task_baselines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pareto::tasks {
namespace {

using testing::ElementsAre;

std::vector<std::string> names_of(const std::vector<Baseline>& some) {
  std::vector<std::string> names;
  for (const Baseline& one : some) names.push_back(one.name);
  return names;
}

/// Six tasks on "pi", which takes 30 ms, and "server", with two workers that take 10 ms.
PlanRequest pi_and_server() {
  using std::chrono::milliseconds;
  PlanRequest request;
  request.set = {.models = {{.model = "m"}}, .tasks = std::vector<Task>(6)};
  request.models = {
      {.whole = {.time = milliseconds(17), .on_device = {milliseconds(30), milliseconds(10)}}}};
  request.workers = {{.device = 0, .name = "pi"},
                     {.device = 1, .name = "server 1"},
                     {.device = 1, .name = "server 2"}};
  return request;
}

TEST(TaskBaselines, ThoseOfOneProcessAndThoseOfDevicesDiffer) {
  const std::vector<std::string> all = names_of(baselines());
  EXPECT_THAT(names_of(baselines_on({}, all)),
              ElementsAre("sequential", "sequential-all", "async", "queue"));
  EXPECT_THAT(names_of(baselines_on({"pi", "server"}, all)),
              ElementsAre("sequential", "queue", "only pi", "only server"));
  EXPECT_THAT(names_of(baselines_on({"pi"}, {"queue"})), ElementsAre("queue"));
}

TEST(TaskBaselines, OnlyTheNamedDeviceWorks) {
  const std::vector<std::string> devices{"pi", "server"};
  const auto makespan = [&](const std::string& name) {
    const auto plan = baseline_plan(name, pi_and_server(), devices);
    EXPECT_TRUE(plan) << plan.error().message;
    return plan->predicted.makespan() / std::chrono::milliseconds(1);
  };
  EXPECT_EQ(makespan("only pi"), 180);
  EXPECT_EQ(makespan("only server"), 30);
  EXPECT_EQ(makespan("sequential"), 60) << "by one worker of the fastest";
  EXPECT_EQ(makespan("queue"), 30);
}

}  // namespace
}  // namespace pareto::tasks
