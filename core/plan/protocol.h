// The version of all that coordinator and daemon say to each other: control.proto, manifests, link
// handshakes and frames; and how one finds the other.
#pragma once

#include <cstdint>

namespace pareto::plan {

/// The version of the protocol, which both sides must have; a difference is refused at the first
/// call, naming both numbers.
inline constexpr std::uint32_t kProtocolVersion = 8;

/// The name under which daemons are announced and looked for on a network (DNS-SD, RFC 6763).
inline constexpr const char* kServiceType = "_pareto-edge._tcp";

}  // namespace pareto::plan
