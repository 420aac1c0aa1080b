// Packets on their way through one direction of a link, in order.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "core/base/clock.h"

namespace pareto::netem {

/// Every packet leaves `delay` after it came. Time is the caller's, so that it is tested without waiting.
///
/// Threads: one owner.
class DelayLine {
 public:
  /// What it holds at most: 1 Gbit/s for two seconds.
  static constexpr std::size_t kMaxBytes = std::size_t{256} << 20;

  explicit DelayLine(Nanoseconds delay) : delay_(delay) {}

  /// False: there is no room, and the packet is lost.
  bool push(TimePoint now, std::span<const std::byte> packet) {
    if (held_bytes_ + packet.size() > kMaxBytes) return false;
    held_bytes_ += packet.size();
    packets_.push_back({now + delay_, {packet.begin(), packet.end()}});
    return true;
  }

  /// When the first one leaves; none where nothing is on its way.
  Deadline next() const {
    if (packets_.empty()) return std::nullopt;
    return packets_.front().leaves;
  }

  /// The first one, if it leaves now or has left already. To be called until there is none.
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
  const Nanoseconds delay_;
  std::size_t held_bytes_ = 0;
  std::deque<Packet> packets_;
};

}  // namespace pareto::netem
