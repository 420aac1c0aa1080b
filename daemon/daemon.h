// The composition root: everything a daemon is made of, in the order it is made, ended in reverse.
//
//   TensorStore ──▶ ShardCache ──▶ StageHost (links) ──▶ ControlServer (calls), MetricsServer (scrapes) ──▶ Announcement
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/metrics/metrics_server.h"
#include "core/transport/transport.h"
#include "daemon/announcement.h"
#include "daemon/config.h"
#include "daemon/control/control_server.h"
#include "daemon/control/network_lease.h"
#include "daemon/stage/shard_cache.h"
#include "daemon/stage/stage_host.h"
#include "daemon/stage/tensor_store.h"
#include "daemon/stage/work_watch.h"

namespace pareto::daemon {

/// What the outside world gives; tests give their own.
struct DaemonParts {
  runtime::RunnerFactory runners = runtime::ShardRunner::load;
  MemoryProbe memory = read_memory;
  runtime::RuntimeInfo runtime;
  std::vector<std::string> engines;
  NetworkLease::Change network = kernel_change();
  std::vector<std::shared_ptr<transport::Transport>> transports;
  /// Called from a thread of its own for work that takes too long and can't be stopped.
  WorkWatch::OnStuck on_stuck;
};
/// LibTorch, this machine, every transport of this build.
DaemonParts builtin_parts();

/// Serves from start() until it ends.
///
/// Threads: one owner.
class Daemon {
 public:
  /// Fails: kPermission (port in use, state folder not ours), kInvalidArgument, kNotFound, kExhausted.
  static Expected<std::unique_ptr<Daemon>> start(const DaemonConfig& config, DaemonParts parts);

  /// One line of JSON, without its end: {"control":"127.0.0.1:40123","data":{"tcp":"…"},"pid":…}, with "metrics" where they are served.
  /// Unspecified hosts are named 127.0.0.1, so that whoever started this daemon can connect.
  std::string ready_line() const;
  /// A line for people: where it serves, and how many stages are open now.
  std::string status() const;
  /// Whether the control address answers a call of its own. Fails: as ControlServer::check_answers.
  Expected<> check_answers(Nanoseconds patience) const { return control_->check_answers(patience); }
  const DaemonConfig& config() const { return config_; }

  /// A sentence per setting that changed.
  struct Reloaded {
    std::vector<std::string> in_use;
    std::vector<std::string> waiting;  ///< for a restart
  };
  /// Applies what can be changed while it runs, and reads a renewed certificate.
  Reloaded reload(const DaemonConfig& config);

  /// Finishes what is in flight, within the configured time, and stops serving.
  void drain();

 private:
  explicit Daemon(const DaemonConfig& config) : config_(config) {}
  Expected<> open_store();
  Expected<> serve_metrics(const std::string& name, const runtime::RuntimeInfo& runtime,
                           const MemoryProbe& memory);
  /// Or takes back what was announced.
  void announce();

  DaemonConfig config_;
  std::string name_;
  std::optional<TemporaryFolder> temporary_state_;  ///< where neither a folder nor a home is known
  std::unique_ptr<TensorStore> store_;
  std::shared_ptr<WorkWatch> watch_;
  std::unique_ptr<ShardCache> shards_;
  std::unique_ptr<StageHost> stages_;
  std::unique_ptr<NetworkLease> network_;
  std::unique_ptr<ControlServer> control_;
  std::unique_ptr<metrics::MetricsServer> metrics_;  ///< null: not asked for
  std::unique_ptr<Announcement> announcement_;       ///< null: nobody is told
};

}  // namespace pareto::daemon
