// The flags of a sweep that say what is measured, where, and how.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "client/flags/accuracy_flags.h"
#include "client/flags/kept_flags.h"
#include "client/flags/model_flags.h"
#include "client/flags/objectives_flag.h"
#include "client/flags/pipeline_flags.h"
#include "client/flags/runner_flags.h"
#include "client/flags/splits_flag.h"
#include "client/flags/time_flags.h"
#include "coordinator/cluster/cluster.h"
#include "core/base/error.h"

namespace CLI {
class App;
}

namespace pareto::client {

struct Context;

/// All flags of `sweep`. It has more than 20 methods: what the command asks of them one by one.
///
/// Threads: one owner.
class SweepFlags {
 public:
  void add_to(CLI::App& app);
  /// Checks all of them and reads the files that they name. Fails: kNotFound and kInvalidArgument
  /// naming the flag, and as files do.
  Expected<> read();
  /// Takes the flags of a run that goes on. Its own flags replace only where its devices are now
  /// and what a request may take, as it was said.
  Expected<> take(const KeptFlags& kept);

  /// Keeps what the inventory says of devices, because objectives need it. Fails: kInvalidArgument
  /// (no device has what a named objective needs).
  Expected<> keep_figures(const cluster::Cluster& cluster);
  /// Opens the model and finds the batches, if no flag names them: its own, or 1.
  /// Opens the data set, too, to check it. Fails: as ModelFlags::open(), batches_for() and
  /// AccuracyCheck::open().
  Expected<model::Model> open_model(Context& context);

  /// Selects the cuts of --splits, --frontier and --trainable. Fails: as CutFlags::select().
  Expected<std::vector<model::Cut>> select_cuts(Context& context, const model::Model& model) {
    return cuts_.select(context, model, what_.options.splits);
  }

  /// Returns everything that the flags said.
  sweep::SweepOptions& options() { return what_.options; }
  const KeptFlags& what() const { return what_; }
  /// Returns the report's file, or "none"; empty: the default.
  std::string& report() { return what_.report; }
  /// If no devices were named, takes those of the environment. Not for a run that goes on where it
  /// began.
  void settle(const Context& context) { what_.devices.settle(context); }
  /// Returns whether a sweep of this number of trials is adaptive, by the flags.
  bool is_adaptive(std::size_t trials) const;
  /// Connects to the devices, and if a condition of the network is asked for, that between them.
  /// Before any thread is started in their network.
  Expected<cluster::Cluster> connect(const Context& context) const;
  /// Returns whether a budget was given here.
  bool gives_budget() const { return budget_.has_value(); }

 private:
  void add_network_to(CLI::App& app);
  void add_plans_to(CLI::App& app);
  void add_measuring_to(CLI::App& app);
  Expected<> read_plans();
  Expected<> read_networks();
  Expected<> read_max_latency();
  Expected<> read_timeout();
  Expected<> read_budget();
  int local_devices() const;

  KeptFlags what_;
  RunnerLists runner_;
  PipelineFlags pipeline_;
  TimeoutFlag timeout_;
  CutFlags cuts_;
  std::string plans_;
  std::string stages_ = "2";
  std::string batches_;
  std::string networks_;
  std::string max_latency_;
  ObjectivesFlag objectives_;
  AccuracyFlags accuracy_;
  std::optional<std::string> budget_;
  bool adaptive_ = false;
  bool exhaustive_ = false;
};

/// Returns every number of stages, beyond one, that this number of devices and split points allows;
/// 1 if none is.
std::vector<int> every_number_of_stages(std::size_t devices, std::size_t points);

}  // namespace pareto::client
