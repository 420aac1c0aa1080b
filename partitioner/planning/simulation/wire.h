// Effect of a link's condition on whole messages: how long one occupies the link, and when it
// arrives.
//
// A condition speaks of packets of up to 1500 bytes. Here a message takes its bytes at the rate
// that holds while they pass, then the delay. A trace may change the rate under way.
// - Jitter: a message has arrived when the last of its packets has. Packets keep their order, so
//   the latest of its last ones counts (at most 64).
// - Losses: lost packets are sent again together, a round trip (twice the delay) later, until none
//   is lost. What a congestion control does about them beyond that is not known here. (bbr hardly
//   reacts; cubic does: 1 % at 50 Mbit/s and 20 ms leaves it 3 Mbit/s.)
// - The condition's queue is ignored: messages wait at the sender.
#pragma once

#include <cstdint>
#include <vector>

#include "partitioner/planning/simulation/scenario.h"

namespace pareto::simulation {

/// Bytes of a packet on the wire, and of its IP and TCP headers (timestamps included).
inline constexpr std::uint64_t kPacketBytes = 1500;
inline constexpr std::uint64_t kPacketHeaderBytes = 52;

/// Returns the bytes on the wire for `bytes` of a frame (core/wire/FORMAT.md).
std::uint64_t bytes_with_packet_headers(std::uint64_t bytes);
/// Returns the bytes of a frame for those on the wire; 0 if there is no more than headers.
std::uint64_t bytes_without_packet_headers(std::uint64_t wire_bytes);

/// The bytes that a connection holds by itself: Linux's largest send buffer of its own accord.
inline constexpr std::uint64_t kConnectionBytes = 4 << 20;
/// Returns how many messages of `message_bytes` bytes on the wire a connection holds:
/// Crossing::places.
int connection_places(std::uint64_t message_bytes, std::uint64_t buffer_bytes = kConnectionBytes);

/// The fate of one message.
struct Fate {
  std::int64_t done = 0;     ///< when the link is free again
  std::int64_t arrives = 0;  ///< earliest; after the message before it
};

/// A condition's direction, made ready. Threads: any.
class Wire {
 public:
  explicit Wire(const plan::LinkDirection& direction);

  /// Carries a message. Times are ns since the link was made. `begin` is when its turn came, and
  /// `occupancy` its time beyond that of its bytes. `shift` is where in its trace the link began.
  /// `key`, `number` and `purpose` select its draws (draws.h), which take the purposes up to
  /// purpose + kPurposes.
  Fate carry(std::int64_t begin, std::int64_t occupancy, std::uint64_t bytes, std::int64_t shift,
             std::uint64_t key, std::uint64_t number, std::uint64_t purpose) const;
  static constexpr std::uint64_t kPurposes = 4096;

  Nanoseconds period() const {
    return Nanoseconds(period_);
  }  ///< period of the trace; 0: it does not repeat

 private:
  struct Step {
    std::int64_t at = 0;
    double bytes_per_ns = 0;  ///< 0: bytes take no time
    std::int64_t delay = 0;
  };
  /// Returns the index of the step that holds then.
  std::size_t step_at(std::int64_t time) const;
  /// Returns when a step ends, for a time in it that counts from the link's own beginning.
  std::int64_t end_of(std::size_t step, std::int64_t time) const;
  std::int64_t pass(std::int64_t begin, double bytes, std::int64_t shift) const;
  std::int64_t latest_jitter(std::uint64_t bytes, double bytes_per_ns, std::uint64_t key,
                             std::uint64_t number, std::uint64_t purpose) const;

  std::vector<Step> steps_;  ///< the first at 0
  std::int64_t period_ = 0;
  plan::Jitter jitter_;
  double loss_ = 0;
};

}  // namespace pareto::simulation
