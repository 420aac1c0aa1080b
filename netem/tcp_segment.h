// A TCP segment as a TUN device hands it over, to be changed on its way.
//
//   virtio_net_hdr │ IPv4 header │ TCP header │ payload
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace pareto::netem {

/// Changes reach the program that receives it: lengths and checksums are set again. The bytes are
/// the caller's.
///
/// Threads: one owner.
class TcpSegment {
 public:
  /// Returns the segment; no value if the packet is not one: another protocol, a fragment, damaged.
  static std::optional<TcpSegment> in(std::span<std::byte> packet);

  std::span<std::byte> payload() const;
  /// Keeps that many bytes of the payload, at most all, and ends the stream behind them (FIN).
  void end_after(std::size_t bytes);
  /// Sets lengths and checksums. Returns the packet, which may be shorter than before.
  std::span<std::byte> finish();

 private:
  TcpSegment(std::span<std::byte> packet, std::size_t tcp_at, std::size_t payload_at)
      : packet_(packet), tcp_at_(tcp_at), payload_at_(payload_at) {}

  std::span<std::byte> packet_;
  std::size_t tcp_at_;      ///< place of the TCP header
  std::size_t payload_at_;  ///< place of the payload
};

}  // namespace pareto::netem
