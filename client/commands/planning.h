// Flags that `profile` and `plan` share, and the profiler that they make.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/commands/leave_soon.h"
#include "client/commands/progress.h"
#include "client/flags/device_flags.h"
#include "client/flags/model_flags.h"
#include "client/flags/runner_flags.h"
#include "client/flags/store_flags.h"
#include "client/flags/time_flags.h"
#include "coordinator/cluster/workload.h"
#include "coordinator/load/foreign_load_meter.h"
#include "coordinator/profile/link_transports.h"
#include "coordinator/profile/profiler.h"

namespace pareto::client::commands {

struct PlanningFlags {
  ModelFlags model;
  DeviceFlags devices;
  RunnerLists runner;
  StoreFlags store;
  TimeoutFlag timeout;
  std::string transport = "auto";
  std::string batch_text;
  /// Batches named by flags; empty: the model's own, or 1.
  std::vector<std::int64_t> named_batches;
  std::int64_t batch = 1;            ///< batch after PlanningSession::open()
  std::optional<int> local_devices;  ///< no value means two, if no devices are named
  bool by_definition = false;        ///< networks are predicted from what was probed without them
  profile::PlanningOptions options;

  void add_to(CLI::App& app);
  /// Adds the flags without those that `settings` has, which adds them.
  void add_to(CLI::App& app, SettingLists& settings);
  /// Checks what can be checked before the model is opened, and reads the batches. Fails:
  /// kInvalidArgument naming the flag.
  Expected<> read();
};

/// The codecs that links between devices may choose from.
struct PlanCodecs {
  std::vector<std::string> names{"none"};
  double allowed_error = 0;  ///< largest allowed error; see CodecOptions::allowed_error
};

struct CodecFlags {
  std::string codecs = "none";
  std::optional<double> error;

  /// Adds the flags to a command. `use` says what is done with the named ones.
  void add_to(CLI::App& app,
              const std::string& use =
                  "codecs of the links between devices, each of which gets the best one");
  /// Returns the codecs that were named, or all that keep within the error. Fails: kNotFound (a
  /// codec), kInvalidArgument, each naming the flag.
  Expected<PlanCodecs> read() const;
};

/// The devices as they were profiled under some settings.
struct ProfiledDevices {
  plan::StageSettings settings;
  std::vector<planning::DeviceFacts> devices;
};

/// A profiler and all that it uses. Threads: one owner.
class PlanningSession {
 public:
  /// Opens the model, the devices (with those conditions of their network) and the store, and finds
  /// flags.batch.
  static Expected<std::unique_ptr<PlanningSession>> open(
      Context& context, PlanningFlags& flags, std::vector<cluster::NamedCondition> conditions);
  ~PlanningSession();
  PlanningSession(const PlanningSession&) = delete;
  PlanningSession& operator=(const PlanningSession&) = delete;

  /// Measures what is not known of the devices, with the network as good as it gets. Fails: as
  /// Profiler::profile does; kClosed where it was stopped.
  Expected<> profile(Context& context);
  /// Measures the same under each of settings(). Fails: as profile(), naming the settings.
  Expected<std::vector<ProfiledDevices>> profile_each(Context& context);
  /// Probes after that, under that condition of the network, or as its definition has it. Fails: as
  /// Profiler::probe() and under_condition() do; if the network cannot be like that.
  Expected<std::vector<planning::ProbedTransport>> probe(Context& context,
                                                         const std::string& condition);
  /// Probes codecs after profile().
  Expected<planning::ProbedCodecs> probe_codecs(Context& context, const PlanCodecs& codecs);

  /// Says which kept profiles were measured while others were at work. Those measured now are told
  /// of by tell_of_others().
  void tell_of_doubts(Context& context) const;
  /// Says, of each machine that was busy since the session was opened, what others used of it.
  void tell_of_others(Context& context);

  /// Returns the settings that the flags name, one at least.
  const std::vector<plan::StageSettings>& settings() const { return settings_; }
  const model::Model& model() const { return model_; }
  const cluster::Cluster& cluster() const { return cluster_; }
  profile::Profiler& profiler() { return *profiler_; }
  const profile::Profiler& profiler() const { return *profiler_; }
  const profile::LinkTransports& transports() const { return transports_; }

 private:
  PlanningSession(model::Model model, cluster::Cluster cluster,
                  std::unique_ptr<results::ResultStore> store);

  model::Model model_;
  cluster::Cluster cluster_;
  std::unique_ptr<results::ResultStore> store_;
  cluster::ModelWorkload workload_;
  cluster::ShardPool pool_;
  std::vector<plan::StageSettings> settings_;
  std::int64_t batch_ = 1;
  std::unique_ptr<profile::Profiler> profiler_;
  std::vector<std::string> doubts_;  ///< doubts about profiles that were kept
  profile::LinkTransports transports_;
  bool by_definition_ = false;
  std::vector<cluster::NamedCondition> conditions_;
  load::ForeignLoadMeter others_;
  ProbeInHand probe_;
  std::unique_ptr<LeaveSoon> leaving_;  // last: it asks the devices
};

/// Returns what shows the progress of profiling and probing, and what is in hand. Both outlive it.
profile::Profiler::Progress shown_on(Progress& progress, ProbeInHand& probe);

}  // namespace pareto::client::commands
