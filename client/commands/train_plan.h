// The plan of a training: the flags that name a model, its cuts and devices, and the pipeline that
// follows from them.
//
//   flags ──read──▶ ──open_model──▶ Model ──open_pipeline──▶ TrainingPipeline
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/command.h"
#include "client/commands/run_cuts.h"
#include "client/flags/device_flags.h"
#include "client/flags/model_flags.h"
#include "client/flags/time_flags.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/plan_file.h"
#include "coordinator/cluster/shard_pool.h"
#include "coordinator/cluster/transport_set.h"
#include "coordinator/cluster/workload.h"
#include "coordinator/train/training_pipeline.h"
#include "coordinator/train/training_setup.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/plan/training_values.h"
#include "partitioner/model/graph/model.h"

namespace pareto::client::commands {

/// Returns the names of the plan's devices; "this process" for a plan that runs here.
std::string devices_text(const plan::Plan& plan);

/// A pipeline with all that it works with.
///
/// Threads: one owner.
struct OpenTraining {
  std::optional<cluster::Cluster> cluster;  ///< no value: it runs in this process
  std::unique_ptr<cluster::ModelWorkload> workload;
  std::unique_ptr<cluster::TransportSet> transports;
  std::unique_ptr<cluster::ShardPool> pool;
  std::unique_ptr<train::TrainingPipeline> pipeline;  ///< it ends before the others
};

/// The model, the cuts and the devices of one training.
///
/// Threads: one owner. The calls come in the order in which they stand here.
class TrainPlan {
 public:
  void add_to(CLI::App& app);
  /// Checks the flags, and reads the file of --plan. `earlier`: the setup that a training goes on
  /// from, whose model, plan and devices are taken if no flag names others; null: it begins. Fails:
  /// kInvalidArgument naming the flag, and as read_plan_file() does.
  Expected<> read(Context& context, const train::TrainingSetup* earlier);
  /// Opens the model, and finds the cuts for the setup's batch and frozen modules. `auto` has
  /// parameters to train behind it. Fails: as ModelFlags::open() and RunCuts::find();
  /// kInvalidArgument (a model that does not run at a micro-batch of one of those sizes, a codec
  /// without a link).
  Expected<model::Model> open_model(Context& context, const train::TrainingSetup& setup,
                                    const std::vector<std::int64_t>& micro_batches);
  /// Opens the pipeline on the plan's devices, or in this process, and writes its plan into the
  /// setup. Model and loss outlive it. Fails: as DevicePipeline::open() and open_local_pipeline()
  /// do.
  Expected<OpenTraining> open_pipeline(Context& context, const model::Model& model,
                                       const model::Model& loss, train::TrainingSetup& setup,
                                       const std::vector<plan::StateTensor>& state);

  /// Returns the plan of --plan as its file has it; null: the flag was not given.
  const plan::Plan* plan_of_file() const { return plan_file_.empty() ? nullptr : &named_.plan; }
  const plan::Plan& plan() const { return plan_; }
  plan::ModelSource source() const { return model_.source(); }

 private:
  bool is_local() const;
  Expected<> place(const model::Model& model, const std::vector<model::Cut>& cuts,
                   std::int64_t batch);
  Expected<> set_transports();
  /// Checks that there is a link for each codec. Fails: kInvalidArgument if a codec is named, and
  /// no link is there to use it.
  Expected<> check_codecs() const;
  Expected<> place_on(const cluster::Cluster& cluster);

  ModelFlags model_;
  DeviceFlags devices_;
  RunCuts cuts_;
  std::string plan_file_;
  std::string transport_ = "auto";
  std::string codec_ = "none";
  std::string gradient_codec_ = "none";
  int threads_ = 0;  ///< 0: not said
  bool no_checksum_ = false;
  bool in_process_ = false;
  TimeoutFlag timeout_;

  cluster::NamedPlan named_;                 ///< the plan of --plan, or of an earlier training
  bool has_plan_ = false;                    ///< whether named_ is one
  std::vector<std::string> earlier_codecs_;  ///< those of an earlier training, one a link
  plan::Plan plan_;
};

}  // namespace pareto::client::commands
