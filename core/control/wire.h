// Converts what both programs say over the control service to messages of proto/control.proto, and
// back.
//
// A peer may say anything. Words come out without control characters and no longer than a line.
#pragma once

#include "core/base/error.h"
#include "core/control/device_use.h"
#include "core/control/machine_state.h"
#include "core/control/shard_report.h"
#include "core/control/shard_settings.h"
#include "core/control/stage_report.h"
#include "core/control/stage_request.h"
#include "proto/control.pb.h"

namespace pareto::control {

v1::RunnerSettings to_wire(const ShardSettings& settings);
/// Words that are empty leave what a ShardSettings begins with. Fails: kInvalidArgument (more
/// threads than plan::kMostThreads, a schedule of more than plan::kMostScheduleBytes).
Expected<ShardSettings> from_wire(const v1::RunnerSettings& wire);

v1::LoadShardReply to_wire(const ShardReport& report);
/// Reads a report of a shard that was loaded. Fails: kCorrupt (durations that no clock gives, more
/// than 64 engines).
Expected<ShardReport> from_wire(const v1::LoadShardReply& wire);

/// Leaves the session to the caller.
v1::OpenStageRequest to_wire(const StageRequest& stage);
StageRequest from_wire(const v1::OpenStageRequest& wire);

v1::StageStatus to_wire(const StageReport& report);
/// Reads a report of a stage. Fails: kCorrupt (an unknown state).
Expected<StageReport> from_wire(const v1::StageStatus& wire);

v1::StageActivity to_wire(const StageActivity& activity);
/// Reads a stage's activity. Fails: kCorrupt (durations that no clock gives, counts of other
/// ranges, an unknown state).
Expected<StageActivity> from_wire(const v1::StageActivity& wire);

v1::MachineState to_wire(const MachineState& state);
/// Figures that no machine has are left out.
MachineState from_wire(const v1::MachineState& wire);

v1::Use to_wire(const DeviceUse& use);
/// Reads who uses a device. Fails: kInvalidArgument (a name longer than kLongestName, or one that
/// is not printable).
Expected<DeviceUse> from_wire(const v1::Use& wire);

v1::Holder to_wire(const Holder& holder);
Holder from_wire(const v1::Holder& wire);

/// Returns a duration that a clock may give, from 0 to 36 years. Fails: kCorrupt.
Expected<Nanoseconds> duration_from(std::int64_t nanoseconds);

}  // namespace pareto::control
