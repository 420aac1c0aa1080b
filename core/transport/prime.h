// Warming a connection before the first request: the same at both ends of a deployment, for every
// transport.
#pragma once

#include <cstdint>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/transport/ping.h"
#include "core/transport/tcp_settings.h"
#include "core/transport/transport.h"

namespace pareto::transport {

/// The figures of a link that priming found out.
struct LinkFigures {
  Nanoseconds round_trip{};  ///< the smallest of a small message
  /// Rate of large messages, the way they went; 0: too fast to tell.
  std::uint64_t bytes_per_second = 0;
  /// Bytes of the largest message that finds it warm. If only the rate limits messages: any size,
  /// UINT64_MAX.
  std::uint64_t primed_bytes = 0;
};

/// Primes a link that nobody else uses yet: small pings for the round trip, then growing ones up to
/// `boundary_bytes` (at most 16 MiB), then that size until it takes no less time than before:
/// congestion windows and buffers are as large as they have to be, the way that the bytes go,
/// whatever the transport and the kernel do inside. Stops early if the deadline leaves no room for
/// more, and if only the link's rate limits a message: twice the bytes then take twice the time,
/// and more of them than are under way at once have passed. Small pings come first only: a
/// connection that sends little for long forgets its window.
///
/// A connection that is paced (tcp_settings.h) sends as fast as it has seen bytes arrive. If
/// requests are a fraction of what would fit on the way it sees few: each takes half a round trip
/// longer than it need, for good, unless more has been sent once. So the pings of such a one grow
/// to 512 KiB where requests are smaller, however small: results of 4 KB are three packets, which
/// go one by one else. Fails: as links do; kCorrupt if something else than the pong comes back.
Expected<LinkFigures> prime(Link& link, std::uint64_t pipeline, std::uint64_t boundary_bytes,
                            PingWay way, TimePoint deadline, bool paced = connections_are_paced());

}  // namespace pareto::transport
