// The version of all that coordinator and daemon say to each other: control.proto, manifests, link handshakes and frames; and how one
// finds the other.
#pragma once

#include <cstdint>

namespace pareto::plan {

/// Both sides must have the same; a difference is refused at the first call, naming both numbers.
inline constexpr std::uint32_t kProtocolVersion = 7;

/// What daemons are announced as, where a network is asked who is there (DNS-SD, RFC 6763).
inline constexpr const char* kServiceType = "_pareto-edge._tcp";

}  // namespace pareto::plan
