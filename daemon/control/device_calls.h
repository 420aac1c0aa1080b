// The calls of control.proto that tell how this device is, and change nothing.
//
// Threads: any, as for all calls. Their errors are what the coordinator is told.
#pragma once

#include "core/base/error.h"
#include "daemon/control/control_server.h"
#include "daemon/control/session_table.h"
#include "proto/control.pb.h"

namespace pareto::daemon {

/// Answers Describe: what this device is and can run. Fails: kInvalidArgument (another protocol).
Expected<> describe_device(const ControlParts& parts, const control::v1::DescribeRequest& request,
                           control::v1::DescribeReply& reply);

/// Answers Status: what the session has loaded and opened, and what is stored. All else is counted
/// only.
void report_status(const ControlParts& parts, const SessionTable& sessions,
                   const control::v1::StatusRequest& request, control::v1::StatusReply& reply);

/// Answers Observe: what the machine, its stages and other coordinators do now. `session`: 0 if the
/// caller has none.
void observe_device(const ControlParts& parts, const SessionTable& sessions, const Caller& caller,
                    std::uint64_t session, control::v1::ObserveReply& reply);

/// Answers Clock: this device's monotonic clock, when the call came and when it is answered.
void read_clock(control::v1::ClockReply& reply);

}  // namespace pareto::daemon
