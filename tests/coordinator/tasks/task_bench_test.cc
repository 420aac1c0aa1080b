// Real models on real threads.
#include "coordinator/tasks/task_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/tasks/task_report.h"
#include "partitioner/model/emit/emit.h"
#include "partitioner/model/zoo/model_builder.h"
#include "partitioner/planning/tasks/task_mix.h"

namespace pareto::tasks {
namespace {

model::Model open_small(const std::string& name) {
  model::zoo::ModelOptions options;
  options.num_classes = 10;
  options.input = model::parse_input_shapes("3x64x64").value();
  return model::zoo::open_model(name, options).value();
}

MixOptions small_mix() {
  MixOptions mix{.tasks = 6, .heavy_share = 0.5};
  mix.heavy = {.model = "resnet18"};
  mix.light = {.model = "squeezenet1_0"};
  return mix;
}

TEST(TaskBench, OutputsAreThoseOfTheWholeModelsBitForBit) {
  const TaskSet set = make_mix(small_mix()).value();
  std::vector<model::Model> models;
  for (const TaskModel& one : set.models) models.push_back(open_small(one.model));
  const std::atomic<bool> never{false};
  const BenchOptions options{.workers = 2, .stages = 3, .engine = "plain"};
  const auto bench = TaskBench::open(std::move(models), set.models, options, never);
  ASSERT_TRUE(bench) << bench.error().message;
  for (const TaskSchedule& schedule : builtin_task_schedules()) {
    ContestOptions contest{
        .baselines = {}, .rounds = 1, .schedule = schedule.name, .splitting = Splitting::kAlways};
    if (schedule.name == "queue") {
      contest.baselines = {"sequential", "sequential-all", "async", "queue"};
    }
    const auto report = run_contest(**bench, set, contest, never, [](int, const std::string&) {});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->schedule().plan.splits(), set.tasks.size());
    for (const Contestant& one : report->contestants) {
      EXPECT_EQ(one.mismatches, 0U) << one.name;
      EXPECT_EQ(one.worst_error, 0) << one.name;
      EXPECT_EQ(one.figures.done, set.tasks.size());
      EXPECT_EQ(one.makespans.size(), 1U);
    }
  }
}

TEST(TaskBench, AStopBeforeTheRunIsSaid) {
  const TaskSet set = make_mix(small_mix()).value();
  std::vector<model::Model> models;
  for (const TaskModel& one : set.models) models.push_back(open_small(one.model));
  const std::atomic<bool> stopped{true};
  const auto bench = TaskBench::open(std::move(models), set.models, {.engine = "plain"}, stopped);
  ASSERT_FALSE(bench);
  EXPECT_EQ(bench.error().code, ErrorCode::kClosed);
}

TEST(TaskBench, AStopInMidRunLeavesWhatWasDone) {
  const TaskSet set = make_mix(small_mix()).value();
  std::vector<model::Model> models;
  for (const TaskModel& one : set.models) models.push_back(open_small(one.model));
  std::atomic<bool> stop{false};
  const auto bench = TaskBench::open(std::move(models), set.models, {.engine = "plain"}, stop);
  ASSERT_TRUE(bench) << bench.error().message;
  const ContestOptions contest{.baselines = {"sequential"}, .rounds = 3};
  for (const int last : {-1, 1}) {
    stop = false;
    int calls = 0;
    const auto report =
        run_contest(**bench, set, contest, stop, [&](int round, const std::string&) {
          // The first call is the rehearsal's.
          if (++calls > 1 && round == last) stop = true;
        });
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_TRUE(report->stopped);
    EXPECT_EQ(report->schedule().partial, last < 0);
    EXPECT_EQ(report->schedule().makespans.size(), last < 0 ? 0U : 1U);
    EXPECT_EQ(report->schedule().figures.done, last < 0 ? 0U : set.tasks.size());
  }
}

TEST(ModelStages, ResNet50IsCutInTheMiddleByEveryMetric) {
  const model::Model model = open_small("resnet50");
  const plan::Shard whole =
      model::emit_shard(model, 0, std::ssize(model.graph().operators)).value();
  const auto runner = runtime::ShardRunner::load(
      whole, [&](const Digest& digest) { return model.weight(digest); }, {.engine = "plain"});
  ASSERT_TRUE(runner);
  const auto layers = layer_costs(model, 1, **runner, 3);
  ASSERT_TRUE(layers) << layers.error().message;
  const std::int64_t operators = std::ssize(*layers);
  for (const char* text : {"time", "flops", "bytes", "bytes/flops", "100 * bytes / flops"}) {
    const CostMetric metric = CostMetric::parse(text).value();
    const auto stages = cut_into_stages(model, *layers, metric, 2);
    ASSERT_TRUE(stages);
    ASSERT_EQ(stages->size(), 2U) << text;
    EXPECT_EQ(stages->back().end, operators);
    // A metric that is infinite anywhere would cut off a few operators at one end.
    const double share = static_cast<double>(stages->front().end) / static_cast<double>(operators);
    EXPECT_GT(share, 0.15) << text;
    EXPECT_LT(share, 0.85) << text;
    // Each side has about half of the costs.
    const std::vector<double> costs = metric.costs_of(*layers).value();
    double before = 0;
    double all = 0;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      all += costs[i];
      if (static_cast<std::int64_t>(i) < stages->front().end) before += costs[i];
    }
    EXPECT_GT(before / all, 0.3) << text;
    EXPECT_LT(before / all, 0.7) << text;
  }
}

}  // namespace
}  // namespace pareto::tasks
