// The calls of control.proto that measure links from this device, and what codecs cost on it.
//
// Threads: any. Their errors are what the coordinator is told.
#pragma once

#include "core/base/error.h"
#include "daemon/control/control_server.h"
#include "proto/control.pb.h"

namespace pareto::daemon {

/// Answers MeasureCodecs: bytes and times of each codec, on what a shard sends or on standard
/// values. Fails: kNotFound (shard), and as LoadedShard::example_outputs and wire::codec_costs do.
Expected<> measure_codecs(const ControlParts& parts,
                          const control::v1::MeasureCodecsRequest& request,
                          control::v1::MeasureCodecsReply& reply);

/// Answers MeasureRate. Fails: as StageHost::measure_link does.
Expected<> measure_rate(const ControlParts& parts, const control::v1::MeasureRateRequest& request,
                        control::v1::MeasureRateReply& reply);

/// Answers ProbeLink. Fails: kInvalidArgument (too many sizes), and as StageHost::probe_link does.
Expected<> probe_link(const ControlParts& parts, const control::v1::ProbeLinkRequest& request,
                      control::v1::ProbeLinkReply& reply);

}  // namespace pareto::daemon
