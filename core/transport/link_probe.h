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
  /// Time of a message after which larger ones are left out, because they would take minutes. At
  /// least two sizes are measured. Left out sizes would take longer than this one in proportion to
  /// their bytes.
  Nanoseconds slow = std::chrono::seconds(1);
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

/// Probes a link. Half the round trip of a small message is taken to be its way back. If the time
/// is up after at least two sizes, these are all there are. The link is then closed, because an
/// answer may still be on its way. `link` has been introduced and belongs to nobody else.
/// Fails: kInvalidArgument (a size), kCorrupt (something else than the answer comes back), and as
/// links do.
Expected<ProbeResult> probe_link(Link& link, const ProbeOptions& options, TimePoint deadline);

}  // namespace pareto::transport
