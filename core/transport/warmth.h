// Decides when an idle connection is kept warm, and with how many bytes. It has no threads and no
// sockets.
//
// A TCP sender that pauses for longer than its retransmission timeout (the round trip and 200 ms)
// starts slowly again. One that sends little for that time has its congestion window halved. The
// next request then waits for two or three more round trips. The window is kept if more than half
// of it is used at a time, once in every such time. For requests of 300 KB over 100 Mbit/s and 40
// ms this is 169 KB every 205 ms. That is 6.6 % of the rate, for ten seconds after the last
// request.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/clock.h"
#include "core/transport/prime.h"
#include "core/transport/tcp_settings.h"

namespace pareto::transport {

/// Bytes that nobody asked for, sent whenever a link has been idle for `interval`.
struct Padding {
  Nanoseconds interval{};
  std::uint64_t bytes = 0;
  bool operator==(const Padding&) const = default;
};

/// Returns the padding that keeps a primed link warm for requests of `boundary_bytes`. This is nine
/// sixteenths of what is in flight at a time, but at most a tenth of the link's rate. No value
/// means that it does not pay: round trips are under half a millisecond (this machine, a switch),
/// or requests fit into the window that every connection starts with.
std::optional<Padding> padding_for(const LinkFigures& figures, std::uint64_t boundary_bytes);

/// Returns the size of messages up to which a link that was primed with these figures, and is kept
/// warm for `boundary_bytes`, is warm, however long ago the last one was (IdleSchedule's limit
/// aside). This is the larger of `boundary_bytes` and the bytes it was primed for. It is
/// `boundary_bytes` if the link must be kept warm (`cools`) and larger messages need more padding.
std::uint64_t warm_for(const LinkFigures& figures, std::uint64_t boundary_bytes,
                       bool cools = idle_connections_cool());

/// A schedule of when a link's next padding is due. Time is the caller's.
///
/// Threads: one owner.
class IdleSchedule {
 public:
  /// Padding follows the last request for this long; from then on the link may cool.
  static constexpr Nanoseconds kLasting = std::chrono::seconds(10);

  IdleSchedule(Nanoseconds interval, TimePoint now) : interval_(interval), used_(now), sent_(now) {}

  /// Notes that a request, or an answer, went out.
  void used(TimePoint now) { used_ = sent_ = now; }
  void padded(TimePoint now) { sent_ = now; }
  /// Returns the time of the next padding. No value means not before the link is used again.
  Deadline next() const {
    const TimePoint due = sent_ + interval_;
    if (due > used_ + kLasting) return std::nullopt;
    return due;
  }

 private:
  Nanoseconds interval_;
  TimePoint used_;
  TimePoint sent_;
};

}  // namespace pareto::transport
