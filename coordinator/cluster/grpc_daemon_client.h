// The one DaemonClient that talks to a daemon, over gRPC; connect_daemon() finds where to.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "coordinator/cluster/daemon_client.h"
#include "core/base/error.h"

namespace pareto::cluster {

/// Connects to a daemon and exchanges protocol versions. `dialled`: where the address of `config`
/// leads. Fails: kUnavailable, kTimeout, kInvalidArgument (another protocol version, both named).
Expected<std::unique_ptr<DaemonClient>> connect_over_grpc(const DeviceConfig& config,
                                                          const std::string& dialled,
                                                          std::chrono::milliseconds timeout);

}  // namespace pareto::cluster
