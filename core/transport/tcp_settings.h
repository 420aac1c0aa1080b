// Settings of this machine's TCP, read in this network namespace. Another congestion control for a
// single route is not seen.
#pragma once

namespace pareto::transport {

/// Returns whether an idle connection forgets what it has learnt: not with
/// net.ipv4.tcp_slow_start_after_idle=0, nor with bbr.
bool idle_connections_cool();

/// Returns whether net.ipv4.tcp_congestion_control is one that sends no faster than it has seen
/// bytes arrive (bbr).
bool connections_are_paced();

}  // namespace pareto::transport
