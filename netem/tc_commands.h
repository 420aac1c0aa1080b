// Expresses a direction of a link in the words of `tc`: tbf for the rate, netem for all else. Pure.
//
//   packets ─▶ netem (loss, duplicates, delay, jitter, order; root) ─▶ tbf (rate, queue; its child)
//       ─▶ the wire
//   packets ─▶ tbf (root) ─▶ the wire             if there is only a rate: no netem is needed
//
// Where it differs from the user-space emulator:
// - the rate comes last: what its queue has no room for is lost on the way, and the sender's TCP
//   finds out as it would on a router (packets leave the sender's accounts when netem takes them);
// - the rate counts frames: on Ethernet 14 bytes a packet beyond IP;
// - packets that overtake pass by the rate too, and a copy may be lost by itself;
// - the long tail of a pareto jitter ends at 5 deviations, and no jitter has a deviation beyond 1.2
//   s;
// - jitter_correlation is passed on, but nothing of it is left: netem correlates the high bits of
//   its dice and looks at the low ones;
// - dice are the kernel's: no seed.
// Order is kept as there. netem lets a packet overtake if it draws a shorter delay, unless it has a
// rate of its own, for which it lines packets up. So it gets a rate that takes no time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/plan/condition.h"

namespace pareto::netem {

using TcCommand = std::vector<std::string>;

/// Returns whether the handle is of the qdiscs that this program puts at the root of a device.
/// "ed00:" is a rate without netem, "ed04:" a queue without a rate. "ed01:" to "ed03:" are netem,
/// one for each shape of jitter, because netem cannot forget a shape's table.
bool is_our_handle(const std::string& handle);

/// Returns whether the direction needs netem at any time of its trace: without it, a kernel that
/// has tbf will do.
bool needs_netem(const plan::LinkDirection& direction);
/// Returns whether it asks for anything.
bool does_something(const plan::LinkDirection& direction);

/// Packets that netem may hold: all that pass in its delay and wait for the rate, however small.
std::uint64_t netem_limit(const plan::LinkDirection& direction);

/// Returns the arguments that follow "netem".
std::vector<std::string> netem_arguments(const plan::LinkDirection& direction);

/// Returns the commands in order, whatever was there of ours before: what leaves through the device
/// fares as the direction has it before its trace begins. What can stay stays, with the packets in
/// it. `largest_packet` with its link-layer header: the bucket must hold one.
std::vector<TcCommand> tc_commands(const std::string& device, const plan::LinkDirection& direction,
                                   std::uint64_t largest_packet_bytes = 1514);

/// Returns the command after which the device has the kernel's own queue again. tc refuses where it
/// has it already.
TcCommand remove_command(const std::string& device);

/// Returns the commands by which what came in through `device` goes through what leaves by `ifb`
/// first. `device` must have no ingress yet.
std::vector<TcCommand> ingress_commands(const std::string& device, const std::string& ifb);
/// Returns the command that removes the ingress queue; tc refuses if there is none.
TcCommand remove_ingress_command(const std::string& device);

}  // namespace pareto::netem
