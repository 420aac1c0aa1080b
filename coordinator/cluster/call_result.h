// Converts the end of a call: a status of gRPC becomes an error whose sentence names the device.
#pragma once

#include <chrono>

#include "coordinator/cluster/cluster.h"
#include "core/base/error.h"

namespace grpc {
class Status;
}

namespace pareto::cluster {

/// Returns OK, or the daemon's own sentence; one of ours if gRPC made the sentence up. `doing`:
/// "loading shard". Fails: with the daemon's code (core/control/status_code.h); kInvalidArgument if
/// the daemon does not know the call.
Expected<> call_result(const grpc::Status& status, const DeviceConfig& config, const char* doing);

/// Like call_result(), for the first call to a device. A daemon that does not answer is most often
/// no fault of the programs, so the sentence says what to look at.
Expected<> first_call_result(const grpc::Status& status, const DeviceConfig& config,
                             std::chrono::milliseconds timeout);

}  // namespace pareto::cluster
