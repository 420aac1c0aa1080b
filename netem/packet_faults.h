// Faults of one direction of a link, on purpose: what they do to packets, and to the bytes in them
// that a program receives. Seeded dice; no network.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "core/base/clock.h"
#include "netem/packet_fates.h"

namespace pareto::netem {

enum class PacketFaultKind {
  kDrop,       ///< packets are lost
  kDelay,      ///< packets come later
  kDuplicate,  ///< packets come twice
  kReorder,    ///< packets overtake others
  // The program that receives them gets other bytes: the checksums of TCP are right.
  kCorrupt,   ///< one bit of a segment is another
  kRepeat,    ///< the first half of a segment's bytes stands in the place of the second too
  kSwap,      ///< the halves of a segment's bytes change places
  kTruncate,  ///< a stream ends (FIN) in the middle of a segment
  kHalfClose  ///< a stream ends before a segment; the way back stays open
};

struct PacketFault {
  PacketFaultKind kind = PacketFaultKind::kDrop;
  double share = 1;        ///< probability of hitting each packet that it can hit
  std::uint64_t most = 0;  ///< number of packets after which it hits no more; 0 means no limit
  Nanoseconds delay{};     ///< delay of kDelay
  std::uint64_t seed = 1;  ///< the same seed hits the same packets at the same places
};

/// A fault while it lasts. Threads: treat() from one, hits() from any.
class ActivePacketFault {
 public:
  explicit ActivePacketFault(const PacketFault& fault) : fault_(fault), random_(fault.seed) {}

  /// Treats the next packet, which begins with a virtio_net_hdr, and its fate. Those that change
  /// bytes hit segments of TCP with a payload only.
  std::span<std::byte> treat(std::span<std::byte> packet, PacketFate& fate);
  std::uint64_t hits() const { return hits_.load(std::memory_order_relaxed); }

 private:
  bool happens();
  std::span<std::byte> change_bytes(std::span<std::byte> packet);
  /// Draws a number below `limit`, which is not 0.
  std::size_t below(std::size_t limit);

  const PacketFault fault_;
  std::mt19937_64 random_;
  std::atomic<std::uint64_t> hits_{0};
};

using PacketFaults = std::vector<std::shared_ptr<ActivePacketFault>>;

}  // namespace pareto::netem
