// Links that nobody has probed: what a condition's definition would make of those that were.
#pragma once

#include "core/base/error.h"
#include "core/plan/condition.h"
#include "partitioner/planning/inputs/probes.h"

namespace pareto::planning {

/// Bytes of a packet on Ethernet, and below those left for the transport: without 20 of IPv4 and 32
/// of TCP with time stamps (RFC 791, 7323).
inline constexpr double kPacketBytes = 1500;
inline constexpr double kPayloadBytes = 1448;

/// Returns the links as `probed` under that condition, which every two devices have between them:
/// forward from the one that comes first in the cluster. The coordinator is next to the first
/// device, as on a test bed.
///
///   a message alone   crosses in  delay + max(time at the rate + least crossing as probed,
///                                             crossing as probed)
///   many              follow each other in  max(time at the rate, interval as probed)
///
/// where of a message alone the first bytes take no time: they find the emulator's bucket full
/// (netem/token_bucket.h). What is smaller than the smallest message probed takes less by its rate,
/// and else as long as that one.
///
/// Connections are taken to be warm, their windows open. Jitter counts as its mean, none; loss and
/// reordering are not predicted: see is_predictable. Fails: kInvalidArgument (a condition that
/// changes over time).
Expected<ProbedLinks> under_condition(const ProbedLinks& probed, const plan::Condition& condition);

/// Returns whether a condition consists of delays and rates only, and they stay the same.
bool is_predictable(const plan::Condition& condition);

}  // namespace pareto::planning
