// The kernel's traffic control (`tc`) on devices of the calling thread's network namespace.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/plan/condition.h"
#include "netem/tc_commands.h"

namespace pareto::netem {

/// The packets that may wait for a reader in a device; the kernel loses what finds no room.
inline constexpr const char* kQueueLength = "10000";

/// Runs tc or ip. Fails: kPermission (root is needed), kUnavailable (this kernel has no netem, tbf,
/// ifb, …, or tc's own words), kNotFound (iproute2 is not installed); each with its remedy.
Expected<> run_tc(const TcCommand& command);

/// Controls what leaves through the device as the direction has it before its trace begins; what
/// another program put there is replaced. Fails: as run_tc() does.
Expected<> control_traffic(const std::string& device, const plan::LinkDirection& direction,
                           std::uint64_t largest_packet_bytes = 1514);

/// The queues of a device, as far as they matter here.
struct DeviceQueues {
  std::string root_kind;    ///< "tbf"; empty: none
  std::string root_handle;  ///< "ed00:"; "0:": the kernel made it by itself
  bool has_ingress = false;
  /// Packets that netem lost, without those that found no room before the rate.
  std::uint64_t netem_drops = 0;
};
/// Reads the queues of a device. Fails: kNotFound (no such device), kUnavailable.
Expected<DeviceQueues> queues_of(const std::string& device);

/// Sets how many segments TCP sends through the device at a time. With more than one, what leaves
/// is up to 64 KiB, and is lost, or late, together. (The kernel's TCP makes large packets whatever
/// the device can do, and cuts them only after its queues: it is told the most segments it may
/// join.) Connections that are there follow. Fails: as run_tc.
Expected<> set_most_segments(const std::string& device, std::uint32_t segments);
/// The kernel's own choice.
constexpr std::uint32_t kManySegments = 65'535;
/// Reads how many segments TCP sends through the device at a time. Fails: kNotFound, kUnavailable.
Expected<std::uint32_t> most_segments(const std::string& device);

/// Returns the largest IP packet. Fails: kNotFound.
Expected<std::uint32_t> mtu_of(const std::string& device);

/// Returns whether packets that come in are joined (GRO, by SIOCETHTOOL). Fails: kNotFound,
/// kPermission; kUnavailable (the driver refuses).
Expected<bool> joins_incoming(const std::string& device);
Expected<> set_joins_incoming(const std::string& device, bool joins);

/// Returns what is done with what comes in, in tc's words; empty: nothing. The device must have an
/// ingress. Fails: kNotFound, kUnavailable.
Expected<std::string> ingress_filters(const std::string& device);

/// Checks that this kernel has all that the tc emulator needs (netem, veth), by trying it in a
/// namespace of its own. Fails: kPermission, kUnavailable, kNotFound; each with its remedy.
Expected<> try_tc();

}  // namespace pareto::netem
