// The version of all that coordinator and daemon say to each other: control.proto, manifests, link handshakes and frames.
#pragma once

#include <cstdint>

namespace pareto {

/// Both sides must have the same; a difference is refused at the first call, naming both numbers.
inline constexpr std::uint32_t kProtocolVersion = 7;

}  // namespace pareto
