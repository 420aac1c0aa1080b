// Measures what predictions are made from.
#include <algorithm>
#include <chrono>
#include <map>
#include <random>

#include "coordinator/results/quantile.h"
#include "coordinator/tasks/task_bench.h"
#include "coordinator/tasks/task_mix.h"

namespace pareto::tasks {
namespace {

/// Times that each stage is measured, at least.
constexpr std::size_t kLeastSamples = 6;
constexpr int kLeastRounds = 3;
constexpr int kAloneRuns = 5;

Nanoseconds median_of(const std::vector<double>& samples) {
  return from_nanoseconds(results::quantile(samples, 0.5));
}

/// Makes stages take no less than the whole model together. A cut takes no work away: what is less
/// was noise.
void even_out(ModelCosts& costs) {
  double sum = 0;
  for (const StageCost& stage : costs.stages) sum += to_nanoseconds(stage.time);
  const double whole = to_nanoseconds(costs.whole.time);
  if (sum <= 0 || sum >= whole) return;
  for (StageCost& stage : costs.stages) {
    stage.time = from_nanoseconds(to_nanoseconds(stage.time) * whole / sum);
  }
}

/// Returns tasks in the same proportions that come together, each model often enough.
TaskSet rehearsed(const TaskSet& set, std::size_t workers) {
  constexpr std::size_t kMost = 24;
  TaskSet some{.models = set.models, .tasks = {}};
  std::vector<std::size_t> counts(set.models.size());
  const std::size_t most = std::max(kMost, 2 * workers);
  for (std::size_t i = 0; i < set.tasks.size() && i < most; ++i) {
    some.tasks.push_back({.model = set.tasks[i].model});
    ++counts[set.tasks[i].model];
  }
  for (std::size_t model = 0; model < counts.size(); ++model) {
    for (; counts[model] < std::max<std::size_t>(2, workers); ++counts[model]) {
      some.tasks.push_back({.model = model});
    }
  }
  std::mt19937_64 random(1);
  shuffle(some.tasks, random);
  return some;
}

}  // namespace

Expected<std::vector<Nanoseconds>> TaskBench::alone_times(const std::atomic<bool>& stop) {
  std::vector<Nanoseconds> times;
  for (std::size_t model = 0; model < prepared_.size(); ++model) {
    TaskSet set{.models = names_, .tasks = std::vector<Task>(kAloneRuns, Task{.model = model})};
    const PlanRequest request{.set = set,
                              .models = std::vector<ModelCosts>(prepared_.size()),
                              .workers = std::vector<WorkerFacts>(1)};
    PARETO_ASSIGN(const TaskPlan plan,
                  plan_by(request, "queue", std::vector<bool>(kAloneRuns, false)));
    PARETO_ASSIGN(const ComparedRun run, this->run(plan, set, stop));
    std::vector<double> samples;
    for (const StageSpan& span : run.run.timeline.spans) {
      samples.push_back(to_nanoseconds(span.finish - span.start));
    }
    times.push_back(median_of(samples));
  }
  return times;
}

Expected<std::vector<ModelCosts>> TaskBench::rehearse(const TaskSet& set,
                                                      const std::atomic<bool>& stop) {
  const TaskSet some = rehearsed(set, options_.workers);
  PlanRequest request{
      .set = some, .models = std::vector<ModelCosts>(prepared_.size()), .workers = workers()};
  for (std::size_t i = 0; i < prepared_.size(); ++i) {
    request.models[i].stages.resize(prepared_[i].stages.size());
    for (std::size_t stage = 0; stage < prepared_[i].stages.size(); ++stage) {
      request.models[i].stages[stage].bytes = prepared_[i].bytes[stage];
    }
  }
  std::vector<bool> split(some.tasks.size());
  for (std::size_t i = 0; i < split.size(); ++i) {
    split[i] = !prepared_[some.tasks[i].model].stages.empty();
  }
  const bool any_split = std::ranges::find(split, true) != split.end();
  std::vector<std::vector<bool>> ways{std::vector<bool>(split.size(), false)};
  if (any_split) ways.push_back(split);
  std::map<StageId, std::vector<double>> samples;
  const auto enough = [&] {
    const auto has = [&](StageId id) { return samples[id].size() >= kLeastSamples; };
    return std::ranges::all_of(prepared_, [&](const PreparedModel& model) {
      return has(model.whole) && std::ranges::all_of(model.stages, has);
    });
  };
  // The first round warms memory up, and counts for nothing. Whole tasks and stages take turns, so
  // that they meet the same other load.
  for (int round = 0; round < kLeastRounds || !enough(); ++round) {
    for (const std::vector<bool>& way : ways) {
      PARETO_ASSIGN(const TaskPlan plan, plan_by(request, "queue", way));
      PARETO_ASSIGN(const ComparedRun run, this->run(plan, some, stop));
      if (run.run.stopped) {
        return fail(ErrorCode::kClosed, "stopped before the tasks were run");
      }
      if (round == 0) continue;
      for (const StageSpan& span : run.run.timeline.spans) {
        const PreparedModel& model = prepared_[some.tasks[span.turn.task].model];
        const StageId id = way[span.turn.task] ? model.stages[span.turn.stage] : model.whole;
        samples[id].push_back(to_nanoseconds(span.finish - span.start));
      }
    }
  }
  PARETO_ASSIGN(const std::vector<Nanoseconds> alone, alone_times(stop));
  for (std::size_t i = 0; i < prepared_.size(); ++i) {
    ModelCosts& costs = request.models[i];
    costs.alone = alone[i];
    costs.whole.time = median_of(samples[prepared_[i].whole]);
    for (std::size_t stage = 0; stage < costs.stages.size(); ++stage) {
      costs.stages[stage].time = median_of(samples[prepared_[i].stages[stage]]);
    }
    even_out(costs);
  }
  return request.models;
}

}  // namespace pareto::tasks
