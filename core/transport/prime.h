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

/// Primes a link that nobody else uses yet, until congestion windows and buffers are as large as
/// requests need. This works for every transport and kernel, because it only sends pings:
/// 1. Small pings measure the round trip. They come first only: a connection that sends little for
///    long forgets its window.
/// 2. Pings grow up to `boundary_bytes`, but not over 16 MiB.
/// 3. Pings of that size are repeated until they take no less time than before.
/// It stops early if the deadline leaves no room for more. It also stops if only the link's rate
/// limits a message: twice the bytes then take twice the time, and more have passed than are under
/// way at once.
///
/// A connection that is paced (tcp_settings.h) sends as fast as it has seen bytes arrive. If
/// requests are a fraction of what fits on the way, it sees few. Each request then takes half a
/// round trip too long for good, unless more has been sent once. So the pings of such a connection
/// grow to 512 KiB, however small requests are. Without them even the three packets of a result of
/// 4 KB go one by one.
/// Fails: as links do; kCorrupt if something else than the pong comes back.
Expected<LinkFigures> prime(Link& link, std::uint64_t pipeline, std::uint64_t boundary_bytes,
                            PingWay way, TimePoint deadline, bool paced = connections_are_paced());

}  // namespace pareto::transport
