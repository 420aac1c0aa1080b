// How fast bytes cross a link from here: measured over a connection that carries nothing else.
//
//   connecting side --kHello (probe)--> accepting side --kReady--> kPing, growing --> kPong without the body …
//
// The accepting side answers as on any link (core/transport/ping.h).
#pragma once

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/transport/transport.h"

namespace pareto::daemon {

struct LinkSpeed {
  double bytes_per_second = 0;
  Nanoseconds round_trip{};  ///< of a small message
};

/// The rate is the slope between pings of two sizes, so that the latency and a shaper's burst, which both pay once, do not count. The
/// sizes grow until the wire takes long enough to be measured. `link` has been introduced as a probe. Fails: as links do; kCorrupt
/// where something else than the pong comes back.
Expected<LinkSpeed> measure_link(transport::Link& link, Deadline deadline);

/// Bytes a second, of what a message of `bytes` takes longer than one of half as many, and of the shortest time that it took itself: the
/// wire is as fast as that at least, and where noise is all that lies between the two, it is all that is known.
double rate_between(std::int64_t bytes, Nanoseconds half_more, Nanoseconds whole);

/// The other side, from the answer to hello on. Returns when the link closes, at the deadline, and after anything but a ping; the link is
/// closed then.
void answer_probe(transport::Link& link, std::uint64_t pipeline, Deadline deadline);

}  // namespace pareto::daemon
