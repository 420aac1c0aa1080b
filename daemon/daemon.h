// Composition root of a daemon: makes all its parts in order, and ends them in reverse.
//
//   TensorStore ──▶ ShardCache ──▶ StageHost (links)
//      ──▶ ControlServer (calls), MetricsServer (scrapes) ──▶ Announcement
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/metrics/metrics_server.h"
#include "core/transport/transport.h"
#include "daemon/access.h"
#include "daemon/announcement.h"
#include "daemon/config.h"
#include "daemon/control/control_server.h"
#include "daemon/control/network_lease.h"
#include "daemon/stage/shard_cache.h"
#include "daemon/stage/stage_host.h"
#include "daemon/stage/tensor_store.h"
#include "daemon/stage/work_watch.h"
#include "runtime/training/trainer.h"

namespace pareto::daemon {

/// Parts that come from outside; tests give their own.
struct DaemonParts {
  runtime::RunnerFactory runners = runtime::load_runner;
  MemoryProbe memory = read_memory;
  runtime::RuntimeInfo runtime;
  std::vector<std::string> engines;
  NetworkLease::Change network = kernel_change();
  std::vector<std::shared_ptr<transport::Transport>> transports;
  /// Called for work that takes too long and cannot be stopped, from a thread of its own.
  WorkWatch::OnStuck on_stuck;
};
/// Returns LibTorch, this machine, and every transport of this build.
DaemonParts builtin_parts();

/// A daemon that serves from start() until it ends.
///
/// Threads: one owner.
class Daemon {
 public:
  /// Starts serving.
  /// Fails: kPermission (port in use, state folder not ours), kInvalidArgument, kNotFound,
  /// kExhausted.
  static Expected<std::unique_ptr<Daemon>> start(const DaemonConfig& config, DaemonParts parts);

  /// Returns one line of JSON, without its end:
  /// {"control":"127.0.0.1:40123","data":{"tcp":"…"},"pid":…}, and "metrics" if they are served. An
  /// unspecified host becomes 127.0.0.1, so that the program that started this daemon can connect.
  std::string ready_line() const;
  /// Returns a line for people: the addresses served, and how many stages are open now.
  std::string status() const;
  /// Checks that the control address answers a call from this process. Fails: as
  /// ControlServer::check_answers.
  Expected<> check_answers(Nanoseconds patience) const { return control_->check_answers(patience); }
  const DaemonConfig& config() const { return config_; }

  /// Changed settings, each as a sentence.
  struct Reloaded {
    std::vector<std::string> in_use;
    std::vector<std::string> waiting;  ///< those that need a restart
  };
  /// Reads credentials that were renewed, and says so in the log. Sessions and stages end whose
  /// peers' certificates were taken back. To be called once a minute.
  void refresh_credentials();
  /// Applies the settings that can change while the daemon runs, and reads renewed credentials.
  Reloaded reload(const DaemonConfig& config);

  /// Finishes what is in flight, within the configured time, and stops serving.
  void drain();

 private:
  explicit Daemon(const DaemonConfig& config) : config_(config) {}
  /// Opens the store and returns its folder.
  Expected<std::string> open_store();
  Expected<> serve_metrics(const std::string& name, const runtime::RuntimeInfo& runtime,
                           const MemoryProbe& memory);
  void say_who_may_come_in() const;
  /// Announces the daemon on the network, or takes the announcement back.
  void announce();

  DaemonConfig config_;
  Access access_;
  std::string refresh_problem_;  ///< why the last refresh failed: it is said once
  std::string name_;
  std::optional<TemporaryFolder> temporary_state_;  ///< if neither a folder nor a home is known
  std::unique_ptr<TensorStore> store_;
  std::shared_ptr<WorkWatch> watch_;
  std::unique_ptr<ShardCache> shards_;
  std::unique_ptr<StageHost> stages_;
  std::unique_ptr<NetworkLease> network_;
  std::unique_ptr<ControlServer> control_;
  std::unique_ptr<metrics::MetricsServer> metrics_;  ///< null if not configured
  std::unique_ptr<Announcement> announcement_;       ///< null if discovery is off
};

}  // namespace pareto::daemon
