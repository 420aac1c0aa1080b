// Packets on their way through one direction of a link.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "core/base/clock.h"

namespace pareto::netem {

/// Every packet leaves its delay after it came, but never before one that came earlier, unless it
/// overtakes. Time is the caller's, so that it is tested without waiting.
///
/// Threads: one owner.
class DelayLine {
 public:
  /// The most bytes that it holds: 1 Gbit/s for two seconds.
  static constexpr std::size_t kMaxBytes = std::size_t{256} << 20;

  /// Pushes a packet. False: there is no room, and the packet is lost.
  bool push(TimePoint now, Nanoseconds delay, std::span<const std::byte> packet) {
    if (!has_room(packet)) return false;
    latest_ = std::max(latest_, now + delay);
    packets_.push_back({latest_, {packet.begin(), packet.end()}});
    return true;
  }

  /// Leaves at once, before all others.
  bool push_first(TimePoint now, std::span<const std::byte> packet) {
    if (!has_room(packet)) return false;
    packets_.push_front({now, {packet.begin(), packet.end()}});
    return true;
  }

  /// Returns when the first one leaves; none if nothing is on its way.
  Deadline next() const {
    if (packets_.empty()) return std::nullopt;
    return packets_.front().leaves;
  }

  /// Returns the first one, if it leaves now or has left already. To be called until there is none.
  std::optional<std::vector<std::byte>> pop(TimePoint now) {
    if (packets_.empty() || packets_.front().leaves > now) return std::nullopt;
    std::vector<std::byte> bytes = std::move(packets_.front().bytes);
    packets_.pop_front();
    held_bytes_ -= bytes.size();
    return bytes;
  }

 private:
  struct Packet {
    TimePoint leaves;
    std::vector<std::byte> bytes;
  };

  bool has_room(std::span<const std::byte> packet) {
    if (held_bytes_ + packet.size() > kMaxBytes) return false;
    held_bytes_ += packet.size();
    return true;
  }

  TimePoint latest_{};  ///< when the last one leaves
  std::size_t held_bytes_ = 0;
  std::deque<Packet> packets_;
};

}  // namespace pareto::netem
