// One plan over one pipeline: the flags that name it, or the file that holds it, and its devices.
//
//   flags ──read──▶ ──open_model──▶ Model ──connect──▶ Cluster, plan
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "client/command.h"
#include "client/commands/run_cuts.h"
#include "client/flags/device_flags.h"
#include "client/flags/model_flags.h"
#include "client/flags/pipeline_flags.h"
#include "client/flags/runner_flags.h"
#include "client/flags/store_flags.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/plan_file.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "partitioner/model/graph/model.h"

namespace pareto::client::commands {

/// The plan that flags or a file name, on the devices that were named or started here.
///
/// Threads: one owner. The calls come in the order in which they stand here.
class OnePlan {
 public:
  /// `usual_batch` is the batch if nothing says another.
  explicit OnePlan(std::int64_t usual_batch = 1) : usual_batch_(usual_batch) {}

  void add_to(CLI::App& app);
  /// Checks the flags, and reads the file of --plan. Fails: kInvalidArgument naming the flag, and
  /// as read_plan_file() does.
  Expected<> read();
  /// Returns whether a cut, a file or devices were named; true is not the whole model here.
  bool names_pipeline() const;
  /// Opens the model and finds the plan's batch: of a flag or a plan file, else of data that are
  /// given here, else the model's own, else the usual one. Fails: as ModelFlags::open() and
  /// batches_for(); kInvalidArgument (a batch that cannot be cut).
  Expected<model::Model> open_model(Context& context);
  /// Returns the cuts of the plan's file or of the flags. Fails: as RunCuts::find().
  Expected<std::vector<model::Cut>> cuts(const model::Model& model) const;
  /// Connects to the devices, and places the stages on them in their order. Fails: as
  /// RunCuts::find(), DeviceFlags::connect() and check_plan().
  Expected<cluster::Cluster> connect(Context& context, const model::Model& model);

  /// Returns the plan, whole once connect() has returned.
  const plan::Plan& plan() const { return plan_; }
  /// Returns whether --trainable asks for cuts that are to be trained.
  bool trainable() const { return cuts_.trainable(); }
  const ModelFlags& model() const { return model_; }
  /// Returns the flags of how shards run, for a caller that changes them before read().
  RunnerFlags& runner() { return runner_; }
  /// Lets the stages of a plan's file run as the flags say, and not as the file does. Fails: as
  /// RunnerFlags::settings().
  Expected<> compute_as_said();
  const PipelineFlags& pipeline() const { return pipeline_; }

 private:
  void add_plan_to(CLI::App& app);
  Expected<> read_file();
  /// Returns the devices that have to answer: those of --plan, or as many as --split makes stages.
  NeededDevices needed(std::size_t stages) const;
  /// Places the stages of --split on the devices in their order, and the links between them.
  Expected<> place(const model::Model& model, const cluster::Cluster& cluster,
                   const std::vector<model::Cut>& cuts);

  const std::int64_t usual_batch_;
  ModelFlags model_;
  DeviceFlags devices_;
  RunnerFlags runner_;
  PipelineFlags pipeline_;
  RunCuts cuts_;
  StoreFlags store_;  ///< profiles of devices, for --split auto
  std::string plan_file_;
  cluster::NamedPlan named_;  ///< the plan and its name
  std::string batch_;
  bool gives_data_ = false;  ///< next to a plan file, which has a batch of its own
  plan::Plan plan_;
};

}  // namespace pareto::client::commands
