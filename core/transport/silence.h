// Decides from when bytes came whether the peer of a link is lost. It has no threads and no
// sockets.
//
// Both ends of a link show life: an end that has sent nothing for a beat sends a small message
// (live_link.h). So an end that waits to receive sees bytes at least that often. If it sees none
// for as long as patience() says, the peer is lost. Its process hangs, its machine or the network
// is gone, or only the way from there to here is.
//
// Only waiting counts. A stage that computes for a minute does not receive, so it does not judge. A
// large frame on a slow link brings bytes all the time.
#pragma once

#include <cstdint>

#include "core/base/clock.h"

namespace pareto::transport {

/// The time after which an end that has sent nothing shows life.
inline constexpr Nanoseconds kBeat = std::chrono::milliseconds(250);
/// The bounds of a beat that a peer may announce.
inline constexpr Nanoseconds kShortestBeat = std::chrono::milliseconds(10);
inline constexpr Nanoseconds kLongestBeat = std::chrono::seconds(5);
/// The least and the most that patience() returns. Two seconds are eight beats: a thread that beats
/// comes to its turn within a fraction of one even if ten others want the same core.
inline constexpr Nanoseconds kLeastPatience = std::chrono::seconds(2);
inline constexpr Nanoseconds kMostPatience = std::chrono::seconds(20);

/// Returns how long a peer may be silent that shows life every `beat`. This is the largest of four,
/// and at most kMostPatience:
/// - kLeastPatience;
/// - eight beats;
/// - the time in which TCP sends a packet for the fourth time: eight times the round trip and 200
///   ms, its shortest timeout. Of 100 packets on such a link ten may be lost, and one beat in ten
///   thousand takes longer;
/// - four times the longest silence that was no loss, because a network or a machine that was slow
///   once will be again.
Nanoseconds patience_for(Nanoseconds beat, Nanoseconds round_trip, Nanoseconds longest_silence);

/// The silence of one peer. Time is the caller's.
///
/// A wait that takes longer than it was meant to counts as long as it was meant to: an end that was
/// stopped, or came to its turn late, did not listen meanwhile.
///
/// Threads: one owner.
class Silence {
 public:
  /// A silence is remembered for this time at least, and for twice as long at most.
  static constexpr Nanoseconds kRemembered = std::chrono::seconds(30);

  /// `least`: what replaces kLeastPatience, for tests that wait.
  explicit Silence(Nanoseconds beat, Nanoseconds least = kLeastPatience)
      : beat_(beat), least_(least) {}

  /// Notes that bytes came at `at`, in a wait that began at `asked`.
  void heard(TimePoint asked, TimePoint at);
  /// Notes that a wait brought no byte. Returns whether the peer is lost.
  bool missed(Nanoseconds meant, Nanoseconds took, Nanoseconds round_trip);
  /// Returns for how long no byte has come while somebody waited for one.
  Nanoseconds length() const { return silent_; }
  Nanoseconds patience(Nanoseconds round_trip) const;

 private:
  const Nanoseconds beat_;
  const Nanoseconds least_;
  Nanoseconds silent_{};
  Nanoseconds longest_{};         ///< longest silence of this period
  Nanoseconds longest_before_{};  ///< the same of the period before
  TimePoint period_began_{};
};

}  // namespace pareto::transport
