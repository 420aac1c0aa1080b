// Models loaded by workers, of this process or of devices, whole and in stages, ready to be
// measured.
//
//   Models ──open──▶ stages loaded by each worker ──rehearse()──▶ times ──▶ TaskPlan ──run──▶
//   TaskRun
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/transport_set.h"
#include "coordinator/tasks/device_worker.h"
#include "coordinator/tasks/model_stages.h"
#include "coordinator/tasks/task_runner.h"
#include "coordinator/tasks/worker.h"
#include "coordinator/tasks/worker_crew.h"
#include "core/base/error.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/planning/tasks/cost_metric.h"
#include "partitioner/planning/tasks/plan_choice.h"
#include "partitioner/planning/tasks/task.h"

namespace pareto::tasks {

struct BenchOptions {
  /// Workers, one at least; more than cores share them. With devices: workers of each; 0: as many
  /// as it has cores.
  std::size_t workers = 2;
  /// Devices that run the tasks, and outlive the bench; null: threads of this process.
  cluster::Cluster* devices = nullptr;
  DeviceWorkerOptions links{};
  std::size_t stages =
      2;  ///< most stages of a task; 1: no model is cut; 0: as many as workers, or devices
  /// "auto": of each model the one that is fastest on one thread, on each device.
  std::string engine = "auto";
  std::string metric = "time";  ///< text for CostMetric::parse()
  int all_threads = 1;          ///< threads of the baseline that shares each layer among all
  /// Told what is done next; may be empty.
  std::function<void(const std::string& what)> progress{};
};

/// A model as it was loaded.
struct PreparedModel {
  std::string title{};
  std::string engine{};  ///< all of them if devices chose several: "prepacked, onednn"
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

/// Workers with models loaded, which run plans of tasks.
///
/// Threads: one owner.
class TaskBench {
 public:
  /// `models`: one for each of `names`, which give batches and titles.
  /// Fails: kInvalidArgument (the metric), as emit_shard(), ShardRunner::load() and devices do, and
  /// kClosed once `stop` is true.
  static Expected<std::unique_ptr<TaskBench>> open(std::vector<model::Model> models,
                                                   const std::vector<TaskModel>& names,
                                                   const BenchOptions& options,
                                                   const std::atomic<bool>& stop);

  const std::vector<PreparedModel>& models() const { return prepared_; }
  const std::vector<WorkerFacts>& workers() const { return facts_; }
  /// Returns the names of the devices. No name means that this process runs the tasks.
  const std::vector<std::string>& devices() const { return devices_; }

  const std::vector<TaskModel>& names() const { return names_; }

  /// Runs a plan once. Fails: as run_tasks().
  Expected<ComparedRun> run(const TaskPlan& plan, const TaskSet& set,
                            const std::atomic<bool>& stop);
  /// Runs a baseline's plan once. Fails: as run_tasks().
  Expected<ComparedRun> run_baseline(const std::string& name, const TaskPlan& plan,
                                     const TaskSet& set, const std::atomic<bool>& stop);

 private:
  struct Example {
    std::vector<Value> inputs;
    std::vector<Value> outputs;  ///< outputs of the whole model on one thread
  };

  TaskBench(std::vector<model::Model> models, std::vector<TaskModel> names, BenchOptions options);
  Expected<> prepare(std::size_t index, const std::atomic<bool>& stop);
  /// Makes the inputs of a model's tasks, and what they should give.
  using RunWhole = std::function<Expected<std::vector<Value>>(std::vector<Value>)>;
  Expected<> make_examples(std::size_t index, const RunWhole& run_whole);
  /// Cuts a model, and loads its stages. It is cut again where the engine's times show that stages
  /// are less equal than those of its layers promised.
  Expected<> prepare_stages(const model::Model& model, const CostMetric& metric,
                            const runtime::RunnerOptions& options,
                            const std::vector<std::string>& engines, const std::atomic<bool>& stop,
                            PreparedModel& prepared);
  void add_workers();
  std::size_t device_count() const { return std::max<std::size_t>(1, devices_.size()); }
  /// Loads a stage on a worker. If engines are chosen, a stage that cannot be run by that of the
  /// whole model, as one that only reshapes, gets its own.
  Expected<std::string> load_stage(Worker& worker, StageId id, const plan::Shard& shard,
                                   const runtime::WeightSource& weights,
                                   runtime::RunnerOptions options) const;
  /// Loads a stage on all workers from `first` on, on each device by its engine of `engines`, which
  /// becomes the one that was kept.
  Expected<> load_everywhere(StageId id, const plan::Shard& shard,
                             const runtime::WeightSource& weights, runtime::RunnerOptions options,
                             std::vector<std::string>& engines, std::size_t first = 0);
  const Example& example_of(const TaskSet& set, std::size_t task) const;
  std::vector<TaskJob> jobs_of(const TaskSet& set, const std::vector<bool>& split) const;
  Expected<ComparedRun> run_on(WorkerCrew& crew, const Workers& workers, const TaskPlan& plan,
                               const TaskSet& set, const std::atomic<bool>& stop);

  std::vector<model::Model> models_;
  std::vector<TaskModel> names_;
  BenchOptions options_;
  std::vector<PreparedModel> prepared_;
  std::vector<std::vector<Example>> examples_;  ///< examples, by model
  StageId next_id_ = 0;
  std::vector<std::string> devices_;
  std::vector<WorkerFacts> facts_;  ///< one for each of workers_
  bool other_processors_ = false;   ///< a device has another kind than this machine
  cluster::TransportSet transports_;
  Workers workers_;
  Workers all_threads_;               ///< one, whose stages share all threads
  std::optional<WorkerCrew> pinned_;  ///< none with devices: these compute
  std::optional<WorkerCrew> free_;
};

}  // namespace pareto::tasks
