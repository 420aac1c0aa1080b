// What devices are asked and what they answer: the program's structs as messages of proto/control.proto, and back.
#pragma once

#include <string>
#include <vector>

#include "client/cluster/daemon_client.h"
#include "core/base/error.h"
#include "proto/control.pb.h"

namespace pareto::client {

/// Both without the session, which is the caller's.
control::v1::LoadShardRequest to_wire(const Shard& shard, const ShardSettings& settings);
control::v1::OpenStageRequest to_wire(const StageRequest& stage);

/// Words come out without control characters. `address`: of its control, for data addresses that name no host.
DeviceInfo from_wire(const control::v1::DescribeReply& reply, const std::string& address);
LoadedShard from_wire(const control::v1::LoadShardReply& reply);
StageReport from_wire(const control::v1::StageStatus& status);
DeviceStatus from_wire(const control::v1::StatusReply& reply);
std::vector<wire::CodecCost> from_wire(const control::v1::MeasureCodecsReply& reply);
ShardTimes from_wire(const control::v1::ProfileReply& reply);
transport::ProbeResult from_wire(const control::v1::ProbeLinkReply& reply);

}  // namespace pareto::client
