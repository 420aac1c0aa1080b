// Models loaded by the workers of this device, whole and in stages, ready to be measured.
//
//   Models ──open──▶ stages loaded by each worker ──rehearse──▶ times ──▶ TaskPlan ──run──▶ TaskRun
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/tasks/cost_metric.h"
#include "coordinator/tasks/model_stages.h"
#include "coordinator/tasks/plan_choice.h"
#include "coordinator/tasks/task.h"
#include "coordinator/tasks/task_runner.h"
#include "coordinator/tasks/worker.h"
#include "coordinator/tasks/worker_crew.h"
#include "core/base/error.h"
#include "partitioner/model/graph/model.h"

namespace pareto::tasks {

struct BenchOptions {
  std::size_t workers = 2;      ///< one at least; more than cores share them
  std::size_t stages = 2;       ///< of a task, at most; 1: no model is cut
  std::string engine = "auto";  ///< "auto": of each model the one that is fastest on one thread
  std::string metric = "time";  ///< as CostMetric::parse() takes it
  int all_threads = 1;          ///< threads of the baseline that shares each layer among all
  /// Told what is done next; may be empty.
  std::function<void(const std::string& what)> progress{};
};

/// A model as it was loaded.
struct PreparedModel {
  std::string title{};
  std::string engine{};
  std::vector<LayerCost> layers{};
  std::vector<StageRange> ranges{};  ///< places of its stages; one: it is not cut
  StageId whole = 0;
  std::vector<StageId> stages{};       ///< stages of the cut model; empty: it is not cut
  std::vector<std::uint64_t> bytes{};  ///< that each of `ranges` is handed at a batch
};

/// A run whose outputs were compared with those of the whole models.
struct ComparedRun {
  TaskRun run;
  std::size_t mismatches = 0;  ///< tasks whose outputs differ by more than engines may
  double worst_error = 0;      ///< relative to the largest output; 0: all bits are equal
};

/// The ways to run tasks that a schedule is compared with.
struct Baseline {
  std::string name;   ///< "async"
  std::string about;  ///< half a sentence
};
/// Returns all of them.
const std::vector<Baseline>& baselines();

/// Threads: one owner.
class TaskBench {
 public:
  /// `models`: one for each of `names`, which give batches and titles.
  /// Fails: kInvalidArgument (the metric), as emit_shard() and ShardRunner::load() do, and kClosed
  /// once `stop` is true.
  static Expected<std::unique_ptr<TaskBench>> open(std::vector<model::Model> models,
                                                   const std::vector<TaskModel>& names,
                                                   const BenchOptions& options,
                                                   const std::atomic<bool>& stop);

  const std::vector<PreparedModel>& models() const { return prepared_; }
  std::vector<WorkerFacts> workers() const;

  /// Measures whole models and stages on tasks like these, which come together, with all workers at
  /// work: they share the machine's memory. Fails: as run_tasks(); kClosed if it was stopped.
  Expected<std::vector<ModelCosts>> rehearse(const TaskSet& set, const std::atomic<bool>& stop);

  /// Runs a plan once. Fails: as run_tasks().
  Expected<ComparedRun> run(const TaskPlan& plan, const TaskSet& set,
                            const std::atomic<bool>& stop);
  /// Returns the plan of a baseline. Its times are the request's.
  Expected<TaskPlan> baseline_plan(const std::string& name, const PlanRequest& request) const;
  /// Runs a baseline's plan once.
  Expected<ComparedRun> run_baseline(const std::string& name, const TaskPlan& plan,
                                     const TaskSet& set, const std::atomic<bool>& stop);

 private:
  struct Example {
    std::vector<Value> inputs;
    std::vector<Value> outputs;  ///< outputs of the whole model on one thread
  };

  TaskBench(std::vector<model::Model> models, std::vector<TaskModel> names, BenchOptions options);
  Expected<> prepare(std::size_t index, const std::atomic<bool>& stop);
  /// Cuts a model, and loads its stages. It is cut again where the engine's times show that stages
  /// are less equal than those of its layers promised.
  Expected<> prepare_stages(const model::Model& model, std::int64_t batch, const CostMetric& metric,
                            const runtime::RunnerOptions& options, const std::atomic<bool>& stop,
                            PreparedModel& prepared);
  Expected<std::string> load_everywhere(StageId id, const plan::Shard& shard,
                                        const runtime::WeightSource& weights,
                                        runtime::RunnerOptions options);
  const Example& example_of(const TaskSet& set, std::size_t task) const;
  std::vector<TaskJob> jobs_of(const TaskSet& set, const std::vector<bool>& split) const;
  Expected<ComparedRun> run_on(WorkerCrew& crew, const Workers& workers, const TaskPlan& plan,
                               const TaskSet& set, const std::atomic<bool>& stop);
  Expected<std::vector<Nanoseconds>> alone_times(const std::atomic<bool>& stop);

  std::vector<model::Model> models_;
  std::vector<TaskModel> names_;
  BenchOptions options_;
  std::vector<PreparedModel> prepared_;
  std::vector<std::vector<Example>> examples_;  ///< examples, by model
  StageId next_id_ = 0;
  Workers workers_;
  Workers all_threads_;  ///< one, whose stages share all threads
  WorkerCrew pinned_;
  WorkerCrew free_;
};

}  // namespace pareto::tasks
