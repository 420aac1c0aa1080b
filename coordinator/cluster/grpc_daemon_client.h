// The one DaemonClient that talks to a daemon, over gRPC; connect_daemon() finds where to.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "coordinator/cluster/daemon_client.h"
#include "core/base/error.h"

namespace pareto::cluster {

/// Connects to a daemon and exchanges protocol versions. `dialled`: where the address of `config`
/// leads. Over a network it takes credentials, unless the device is insecure. On this machine a
/// daemon without credentials is taken too. Fails: kUnavailable, kTimeout, kInvalidArgument
/// (another protocol version, both named), kPermission (TLS: each with its remedy).
Expected<std::unique_ptr<DaemonClient>> connect_over_grpc(const DeviceConfig& config,
                                                          const std::string& dialled,
                                                          std::chrono::milliseconds timeout);

}  // namespace pareto::cluster
