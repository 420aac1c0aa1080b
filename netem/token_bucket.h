// The kernel's token bucket (tbf): the rate of a condition, and the queue before it.
#pragma once

#include <string>
#include <vector>

#include "core/plan/condition.h"

namespace pareto::netem {

/// Returns the bytes by which a condition's rate may be ahead of itself for a moment: what passes
/// in 0.5 ms, and at least 4 KiB. The bucket fills up while a sender computes. So it is as small as
/// timers allow, which are late by half of that on a busy machine. A link saves nothing for later,
/// and loses nothing.
std::uint64_t burst_bytes(const plan::LinkDirection& direction);
/// Returns the queue asked for, or else what passes in 50 ms, at least 64 KiB.
std::uint64_t queue_bytes(const plan::LinkDirection& direction);

/// Returns tc's arguments that put the bucket on what leaves through a device, in that place of its
/// queues. The direction must have a rate. A packet larger than the bucket never passes: it has
/// room for `largest_packet_bytes` at least.
std::vector<std::string> token_bucket_command(const std::string& device,
                                              const plan::LinkDirection& direction,
                                              const std::vector<std::string>& place = {"root"},
                                              std::uint64_t largest_packet_bytes = 1514);

}  // namespace pareto::netem
