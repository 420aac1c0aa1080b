// Measures how long messages of given sizes take on a link, both alone and one behind the other.
// Plans that nobody has run are predicted from these times. It sends pings (ping.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/transport/ping.h"
#include "core/transport/transport.h"

namespace pareto::transport {

/// The longest that one way of a link may take: a slow one's messages take seconds. The side that
/// answers waits a little longer.
inline constexpr std::chrono::seconds kLongestProbe{120};

struct ProbeOptions {
  std::vector<std::uint64_t>
      sizes;  ///< sizes of messages, each 1 … kLargestPingBytes; measured in ascending order
  PingWay way = PingWay::kThere;
  /// The most time for each size; if messages are slow there are fewer of them, but never less than
  /// a few.
  Nanoseconds budget = std::chrono::milliseconds(250);
  /// The time of a message after which larger ones are left out, but for two sizes at least: they
  /// would take minutes, and longer than this one by what their bytes do.
  Nanoseconds dear = std::chrono::seconds(1);
};

struct ProbePoint {
  std::uint64_t bytes = 0;
  /// Time of a message that is alone on the link: from the call of send to its value on the other
  /// side.
  Nanoseconds crossing{};
  Nanoseconds interval{};     ///< time between messages that follow each other as fast as they can
  Nanoseconds send_cpu{};     ///< processor time on the side that sends
  Nanoseconds receive_cpu{};  ///< … and on the one that receives
};

struct ProbeResult {
  Nanoseconds round_trip{};  ///< the median of a small message
  std::vector<ProbePoint> points;
};

/// Probes a link. Half the round trip of a small message is taken to be its way back. Where the
/// time is up after two sizes at least, these are all there are, and the link is closed: an answer
/// may be on its way still. `link`: introduced, and nobody else's. Fails: kInvalidArgument (a
/// size), kCorrupt (something else than the answer comes back), and as links do.
Expected<ProbeResult> probe_link(Link& link, const ProbeOptions& options, TimePoint deadline);

}  // namespace pareto::transport
