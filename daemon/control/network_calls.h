// The call of control.proto that makes this device's network worse for a while.
//
// Threads: any. Its errors are what the coordinator is told.
#pragma once

#include <string>

#include "core/base/error.h"
#include "daemon/control/network_lease.h"
#include "proto/control.pb.h"

namespace pareto::daemon {

/// Answers Emulate: takes, renews or ends a lease of the network. `peer` is the caller's address as
/// gRPC writes it: the interface that leads to it is spared. Fails: kInvalidArgument (a condition
/// that is none or too large), and as NetworkLease does.
Expected<> emulate_network(NetworkLease& network, const std::string& peer,
                           const control::v1::EmulateRequest& request,
                           control::v1::EmulateReply& reply);

}  // namespace pareto::daemon
