#include "coordinator/tasks/rehearsal.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <random>

#include "coordinator/results/quantile.h"
#include "partitioner/planning/tasks/task_mix.h"

namespace pareto::tasks {
namespace {

/// Times that each stage is measured, at least.
constexpr std::size_t kLeastSamples = 6;
constexpr int kLeastRounds = 3;
constexpr int kAloneRuns = 5;

/// Tasks that each of some devices runs, all of them or only their first worker.
struct Rehearsal {
  TaskSet set;
  std::vector<bool> split;  ///< true for each task that is split
  std::vector<std::size_t> devices;
  bool one_worker = false;
};

/// The time that a stage took on a device.
struct Sample {
  StageId stage = 0;
  std::size_t device = 0;
  double ns = 0;
};

std::size_t device_count(const TaskBench& bench) {
  return std::max<std::size_t>(1, bench.devices().size());
}

Nanoseconds median_of(const std::vector<double>& samples) {
  return from_nanoseconds(results::quantile(samples, 0.5));
}

/// Makes stages take no less than the whole model together. A cut takes no work away: what is less
/// was noise.
void even_out(ModelCosts& costs, std::size_t device) {
  double sum = 0;
  for (const StageCost& stage : costs.stages) sum += to_nanoseconds(stage.on_device[device]);
  const double whole = to_nanoseconds(costs.whole.on_device[device]);
  if (sum <= 0 || sum >= whole) return;
  for (StageCost& stage : costs.stages) {
    Nanoseconds& time = stage.on_device[device];
    time = from_nanoseconds(to_nanoseconds(time) * whole / sum);
  }
}

/// Fills in the mean of all workers. Of one device that is all there is to say.
void settle(StageCost& cost, const std::vector<WorkerFacts>& workers) {
  double sum = 0;
  for (const WorkerFacts& worker : workers) sum += to_nanoseconds(cost.on_device[worker.device]);
  cost.time = from_nanoseconds(sum / static_cast<double>(workers.size()));
  if (cost.on_device.size() == 1) cost.on_device.clear();
}

/// Returns tasks in the same proportions that come together, each model often enough, of which each
/// device runs all.
TaskSet rehearsed(const TaskSet& set, std::size_t workers, std::size_t devices) {
  constexpr std::size_t kMost = 24;
  TaskSet some{.models = set.models, .tasks = {}};
  std::vector<std::size_t> counts(set.models.size());
  const std::size_t most = std::max(kMost / devices, 2 * workers);
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

/// Runs the tasks on each of its devices at once, whose workers have a queue of their own.
Expected<std::vector<Sample>> rehearse_once(TaskBench& bench, const Rehearsal& rehearsal,
                                            const std::atomic<bool>& stop) {
  const std::vector<PreparedModel>& prepared = bench.models();
  const std::size_t count = rehearsal.set.tasks.size();
  PlanRequest request{.set = {.models = rehearsal.set.models, .tasks = {}},
                      .models = std::vector<ModelCosts>(prepared.size()),
                      .workers = bench.workers()};
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    request.models[i].stages.resize(prepared[i].stages.size());
  }
  std::vector<bool> split;
  for (std::size_t i = 0; i < rehearsal.devices.size(); ++i) {
    const std::vector<Task>& tasks = rehearsal.set.tasks;
    request.set.tasks.insert(request.set.tasks.end(), tasks.begin(), tasks.end());
    split.insert(split.end(), rehearsal.split.begin(), rehearsal.split.end());
  }
  Problem problem = make_problem(request, split);
  // A queue for each of these devices, and an empty one for all other workers.
  Assignment assignment;
  assignment.queues.resize(rehearsal.devices.size() + 1);
  for (const Turn turn : all_turns(problem)) {
    assignment.queues[turn.task / count].push_back(turn);
  }
  std::vector<bool> has_worker(rehearsal.devices.size(), false);
  for (const WorkerFacts& worker : bench.workers()) {
    const auto at = std::ranges::find(rehearsal.devices, worker.device);
    auto queue = static_cast<std::size_t>(at - rehearsal.devices.begin());
    const bool is_left_out = queue < has_worker.size() && rehearsal.one_worker && has_worker[queue];
    if (is_left_out) queue = has_worker.size();
    if (queue < has_worker.size()) has_worker[queue] = true;
    assignment.queue_of.push_back(queue);
  }
  PARETO_ASSIGN(const TaskPlan plan,
                plan_with(std::move(problem), "queue", split, std::move(assignment)));
  PARETO_ASSIGN(const ComparedRun run, bench.run(plan, request.set, stop));
  if (!run.run.losses.empty()) {
    return fail(ErrorCode::kUnavailable, "lost before the tasks were run: {}",
                run.run.losses.front().error.message);
  }
  if (run.run.stopped) return fail(ErrorCode::kClosed, "stopped before the tasks were run");
  std::vector<Sample> samples;
  for (const StageSpan& span : run.run.timeline.spans) {
    const PreparedModel& model = prepared[request.set.tasks[span.turn.task].model];
    samples.push_back({split[span.turn.task] ? model.stages[span.turn.stage] : model.whole,
                       rehearsal.devices[span.turn.task / count],
                       to_nanoseconds(span.finish - span.start)});
  }
  return samples;
}

/// Returns the time of each whole model on the fastest device, while nothing else runs.
Expected<std::vector<Nanoseconds>> alone_times(TaskBench& bench, const std::atomic<bool>& stop) {
  std::vector<Nanoseconds> times;
  for (std::size_t model = 0; model < bench.models().size(); ++model) {
    const std::vector<Task> tasks(kAloneRuns, Task{.model = model});
    Nanoseconds best = Nanoseconds::max();
    for (std::size_t device = 0; device < device_count(bench); ++device) {
      const Rehearsal alone{
          {bench.names(), tasks}, std::vector<bool>(tasks.size()), {device}, true};
      PARETO_ASSIGN(const std::vector<Sample> samples, rehearse_once(bench, alone, stop));
      std::vector<double> all;
      for (const Sample& sample : samples) all.push_back(sample.ns);
      best = std::min(best, median_of(all));
    }
    times.push_back(best);
  }
  return times;
}

}  // namespace

Expected<std::vector<ModelCosts>> rehearse(TaskBench& bench, const TaskSet& set,
                                           const std::atomic<bool>& stop) {
  const std::vector<PreparedModel>& prepared = bench.models();
  const std::size_t devices = device_count(bench);
  std::size_t most_workers = 0;
  Rehearsal whole{{}, {}, {}, false};
  for (std::size_t device = 0; device < devices; ++device) {
    whole.devices.push_back(device);
    const auto workers = std::ranges::count(bench.workers(), device, &WorkerFacts::device);
    most_workers = std::max(most_workers, static_cast<std::size_t>(workers));
  }
  whole.set = rehearsed(set, most_workers, devices);
  Rehearsal split = whole;
  for (const Task& task : whole.set.tasks) {
    whole.split.push_back(false);
    split.split.push_back(!prepared[task.model].stages.empty());
  }
  std::vector<const Rehearsal*> ways{&whole};
  if (split.split != whole.split) ways.push_back(&split);
  std::map<std::pair<StageId, std::size_t>, std::vector<double>> samples;  // by stage and device
  const auto enough = [&] {
    const auto has = [&](StageId id) {
      return std::ranges::all_of(whole.devices, [&](std::size_t device) {
        return samples[{id, device}].size() >= kLeastSamples;
      });
    };
    return std::ranges::all_of(prepared, [&](const PreparedModel& model) {
      return has(model.whole) && std::ranges::all_of(model.stages, has);
    });
  };
  // The first round warms memory up, and counts for nothing. Whole tasks and stages take turns, so
  // that they meet the same other load.
  for (int round = 0; round < kLeastRounds || !enough(); ++round) {
    for (const Rehearsal* const way : ways) {
      PARETO_ASSIGN(const std::vector<Sample> some, rehearse_once(bench, *way, stop));
      if (round == 0) continue;
      for (const Sample& one : some) samples[{one.stage, one.device}].push_back(one.ns);
    }
  }
  PARETO_ASSIGN(const std::vector<Nanoseconds> alone, alone_times(bench, stop));
  std::vector<ModelCosts> all(prepared.size());
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    const PreparedModel& model = prepared[i];
    ModelCosts& costs = all[i];
    costs.alone = alone[i];
    costs.stages.resize(model.stages.size());
    for (std::size_t device = 0; device < devices; ++device) {
      costs.whole.on_device.push_back(median_of(samples[{model.whole, device}]));
      for (std::size_t stage = 0; stage < model.stages.size(); ++stage) {
        costs.stages[stage].on_device.push_back(median_of(samples[{model.stages[stage], device}]));
      }
      even_out(costs, device);
    }
    settle(costs.whole, bench.workers());
    for (std::size_t stage = 0; stage < costs.stages.size(); ++stage) {
      costs.stages[stage].bytes = model.bytes[stage];
      settle(costs.stages[stage], bench.workers());
    }
  }
  return all;
}

}  // namespace pareto::tasks
