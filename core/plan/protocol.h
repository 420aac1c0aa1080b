// The version of all that coordinator and daemon say to each other: control.proto, manifests, link
// handshakes and frames; and how one finds the other.
#pragma once

#include <cstdint>

namespace pareto::plan {

/// The newest version of the protocol that this program speaks. Two programs use the newest that
/// both speak, which Describe finds out. If there is none, the first call is refused, naming both.
inline constexpr std::uint32_t kProtocolVersion = 9;

/// The oldest version that this program speaks: that of the release before, so that devices can be
/// upgraded one by one.
inline constexpr std::uint32_t kOldestProtocol = 8;

/// The version that a hello states. It is that of the oldest program whose hellos and frames are
/// understood as they are: a stage does not know what the one behind it speaks.
inline constexpr std::uint32_t kLinkProtocol = 8;

/// The version from which on coordinators beat, and devices know who uses them
/// (daemon/control/attendance.h).
inline constexpr std::uint32_t kLeasesSince = 9;

/// Returns whether this program speaks a version.
constexpr bool speaks(std::int64_t protocol) {
  return protocol >= kOldestProtocol && protocol <= kProtocolVersion;
}

/// The name under which daemons are announced and looked for on a network (DNS-SD, RFC 6763).
inline constexpr const char* kServiceType = "_pareto-edge._tcp";

}  // namespace pareto::plan
