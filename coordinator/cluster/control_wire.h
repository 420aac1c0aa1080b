// Converts what only the coordinator asks and is answered to messages of proto/control.proto, and
// back. What both programs say is in core/control/wire.h.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "coordinator/cluster/daemon_client.h"
#include "core/base/error.h"
#include "proto/control.pb.h"

namespace pareto::cluster {

/// Leaves the session to the caller.
control::v1::LoadShardRequest to_wire(const plan::Shard& shard,
                                      const control::ShardSettings& settings);

/// Returns a tensor's first chunk without its data: it says what the tensor is. Later chunks have
/// data only.
control::v1::TensorChunk first_chunk(const NamedTensor& entry);
control::v1::ProbeLinkRequest probe_request(const std::string& transport,
                                            const std::string& address,
                                            const transport::ProbeOptions& options,
                                            std::chrono::milliseconds timeout);
control::v1::MeasureRateRequest rate_request(const std::string& transport,
                                             const std::string& address,
                                             std::chrono::milliseconds timeout);
control::v1::ProfileRequest profile_request(const std::string& handle, std::int64_t batch,
                                            int repeats, int operator_repeats);
/// Asks for an emulation that lasts for `lease` unless it is renewed.
control::v1::EmulateRequest to_wire(const EmulationRequest& emulation,
                                    std::chrono::milliseconds lease);
/// Asks for the same time again for an emulation, or for its end.
control::v1::EmulateRequest renewal_of(std::uint64_t lease, bool end);

/// Words come out without control characters. `address`: that of the device's control, for data
/// addresses that name no host.
DeviceInfo from_wire(const control::v1::DescribeReply& reply, const std::string& address);
/// Reads a daemon's status. Fails: kCorrupt (a stage in an unknown state).
Expected<DeviceStatus> from_wire(const control::v1::StatusReply& reply);
/// These fail: kCorrupt (durations that no clock gives, a rate that is no number).
Expected<std::vector<wire::CodecCost>> from_wire(const control::v1::MeasureCodecsReply& reply);
Expected<ShardTimes> from_wire(const control::v1::ProfileReply& reply);
Expected<transport::ProbeResult> from_wire(const control::v1::ProbeLinkReply& reply);
Expected<LinkSpeed> from_wire(const control::v1::MeasureRateReply& reply);

}  // namespace pareto::cluster
