// The one DaemonClient that talks to a daemon, over gRPC; connect_daemon() finds where to.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "coordinator/cluster/daemon_client.h"
#include "core/base/error.h"

namespace pareto::cluster {

/// Connects to a daemon once, and finds the newest protocol that both speak. `dialled`: where the
/// address of `config` leads. `own`: credentials for TLS; null: without. Fails: kUnavailable,
/// kTimeout, kInvalidArgument (no common protocol, both named), kPermission.
Expected<std::unique_ptr<DaemonClient>> describe_over_grpc(
    const DeviceConfig& config, const std::string& dialled,
    std::shared_ptr<const tls::Credentials> own, std::chrono::milliseconds timeout);

}  // namespace pareto::cluster
