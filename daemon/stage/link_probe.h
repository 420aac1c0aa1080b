// Measures how fast bytes cross a link from here, over a connection that carries nothing else.
//
//   connecting side --kHello (probe)--> accepting side --kReady-->
//     kPing, growing --> kPong without the body …
//
// The accepting side answers as on any link (core/transport/ping.h).
#pragma once

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/transport/transport.h"

namespace pareto::daemon {

/// Speed of a link.
struct LinkSpeed {
  double bytes_per_second = 0;
  Nanoseconds round_trip{};  ///< round trip of a small message
};

/// Returns the speed of a link that has been introduced as a probe. The rate is the slope between
/// pings of two sizes. Both pay the latency and a shaper's burst once, so these do not count. The
/// sizes grow until the wire takes long enough to be measured.
/// Fails: as links do; kCorrupt (an answer that is not the pong).
Expected<LinkSpeed> measure_link(transport::Link& link, Deadline deadline);

/// Returns bytes a second, from two measured times. `half_more` is how much longer a message of
/// `bytes` takes than one of half the size. `whole` is the shortest time of the larger message: the
/// wire is at least as fast as that says. If `half_more` is only noise, nothing else is known.
double rate_between(std::int64_t bytes, Nanoseconds half_more, Nanoseconds whole);

/// Answers a probe on the accepting side, beginning with the answer to hello. Returns when the link
/// closes, at the deadline, and after any message but a ping. The link is then closed.
void answer_probe(transport::Link& link, std::uint64_t pipeline, Deadline deadline);

}  // namespace pareto::daemon
