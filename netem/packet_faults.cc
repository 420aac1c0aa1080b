#include "netem/packet_faults.h"

#include <algorithm>

#include "netem/tcp_segment.h"

namespace pareto::netem {

std::span<std::byte> ActivePacketFault::treat(std::span<std::byte> packet, PacketFate& fate) {
  if (fault_.most > 0 && hits() >= fault_.most) return packet;
  if (fault_.kind >= PacketFaultKind::kCorrupt) return change_bytes(packet);
  if (!happens()) return packet;
  hits_.fetch_add(1, std::memory_order_relaxed);
  switch (fault_.kind) {
    case PacketFaultKind::kDelay:
      fate.delay += fault_.delay;
      break;
    case PacketFaultKind::kDuplicate:
      fate.duplicated = true;
      break;
    case PacketFaultKind::kReorder:
      fate.overtakes = true;
      break;
    default:
      fate.lost = true;
  }
  return packet;
}

bool ActivePacketFault::happens() {
  return fault_.share >= 1 || std::uniform_real_distribution<double>()(random_) < fault_.share;
}

std::size_t ActivePacketFault::below(std::size_t limit) {
  return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
}

std::span<std::byte> ActivePacketFault::change_bytes(std::span<std::byte> packet) {
  auto segment = TcpSegment::in(packet);
  if (!segment) return packet;
  const std::span<std::byte> payload = segment->payload();
  const std::size_t half = payload.size() / 2;
  const bool in_halves =
      fault_.kind == PacketFaultKind::kRepeat || fault_.kind == PacketFaultKind::kSwap;
  // Equal halves are the same bytes afterwards.
  if (payload.empty() ||
      (in_halves && std::ranges::equal(payload.first(half), payload.subspan(half, half)))) {
    return packet;
  }
  if (!happens()) return packet;
  switch (fault_.kind) {
    case PacketFaultKind::kRepeat:
      std::ranges::copy(payload.first(half), payload.begin() + static_cast<std::ptrdiff_t>(half));
      break;
    case PacketFaultKind::kSwap:
      std::ranges::swap_ranges(payload.first(half), payload.subspan(half, half));
      break;
    case PacketFaultKind::kTruncate:
      segment->end_after(below(payload.size()));
      break;
    case PacketFaultKind::kHalfClose:
      segment->end_after(0);
      break;
    default:
      payload[below(payload.size())] ^= std::byte{1} << static_cast<int>(below(8));
  }
  hits_.fetch_add(1, std::memory_order_relaxed);
  return segment->finish();
}

}  // namespace pareto::netem
