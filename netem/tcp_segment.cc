#include "netem/tcp_segment.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace pareto::netem {
namespace {

/// The header that stands before each packet of a TUN device (virtio_net_hdr, whose own file is C).
struct OffloadHeader {
  std::uint8_t flags;
  std::uint8_t gso_type;  ///< kind of segments that were joined; 0: it is one segment
  std::uint16_t header_bytes;
  std::uint16_t gso_size;  ///< payload of each segment
  std::uint16_t checksum_start;
  std::uint16_t checksum_offset;
};

constexpr std::size_t kIpAt = sizeof(OffloadHeader);
constexpr std::size_t kLeastIp = 20;
constexpr std::size_t kLeastTcp = 20;
// Places in the headers (RFC 791, RFC 9293).
constexpr std::size_t kIpLength = 2;
constexpr std::size_t kIpFragment = 6;
constexpr std::size_t kIpProtocol = 9;
constexpr std::size_t kIpChecksum = 10;
constexpr std::size_t kIpAddresses = 12;
constexpr std::size_t kTcpFlags = 13;
constexpr std::size_t kTcpChecksum = 16;
constexpr unsigned kFragmentBits = 0x3fff;
constexpr std::byte kFin{0x01};

unsigned word(std::span<const std::byte> bytes, std::size_t at) {
  return std::to_integer<unsigned>(bytes[at]) << 8 | std::to_integer<unsigned>(bytes[at + 1]);
}

void put_word(std::span<std::byte> bytes, std::size_t at, unsigned value) {
  bytes[at] = static_cast<std::byte>(value >> 8);
  bytes[at + 1] = static_cast<std::byte>(value & 0xff);
}

std::uint64_t sum_words(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) sum += word(bytes, i);
  if (bytes.size() % 2 != 0) sum += std::to_integer<unsigned>(bytes.back()) << 8;
  return sum;
}

/// Folds a sum to the sixteen bits of RFC 1071.
unsigned fold(std::uint64_t sum) {
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<unsigned>(sum);
}

}  // namespace

std::optional<TcpSegment> TcpSegment::in(std::span<std::byte> packet) {
  if (packet.size() < kIpAt + kLeastIp) return std::nullopt;
  const auto ip = packet.subspan(kIpAt);
  const auto first = std::to_integer<unsigned>(ip[0]);
  const std::size_t ip_bytes = std::size_t{4} * (first & 0xf);
  if (first >> 4 != 4 || ip_bytes < kLeastIp || ip.size() < ip_bytes + kLeastTcp) {
    return std::nullopt;
  }
  if (ip[kIpProtocol] != std::byte{IPPROTO_TCP}) return std::nullopt;
  if ((word(ip, kIpFragment) & kFragmentBits) != 0) return std::nullopt;
  if (word(ip, kIpLength) != ip.size()) return std::nullopt;
  const std::size_t tcp_bytes =
      std::size_t{4} * (std::to_integer<unsigned>(ip[ip_bytes + kTcpFlags - 1]) >> 4);
  if (tcp_bytes < kLeastTcp || ip.size() < ip_bytes + tcp_bytes) return std::nullopt;
  return TcpSegment(packet, kIpAt + ip_bytes, kIpAt + ip_bytes + tcp_bytes);
}

std::span<std::byte> TcpSegment::payload() const { return packet_.subspan(payload_at_); }

void TcpSegment::end_after(std::size_t bytes) {
  packet_ = packet_.first(payload_at_ + std::min(bytes, payload().size()));
  packet_[tcp_at_ + kTcpFlags] |= kFin;
}

std::span<std::byte> TcpSegment::finish() {
  OffloadHeader header{};
  std::memcpy(&header, packet_.data(), sizeof(header));
  // One segment needs no cutting.
  if (payload().size() <= header.gso_size) header.gso_type = 0;
  const bool joined = header.gso_type != 0;
  if (!joined) header = {};

  const auto ip = packet_.subspan(kIpAt, tcp_at_ - kIpAt);
  put_word(ip, kIpLength, static_cast<unsigned>(packet_.size() - kIpAt));
  put_word(ip, kIpChecksum, 0);
  put_word(ip, kIpChecksum, ~fold(sum_words(ip)) & 0xffff);

  const auto tcp = packet_.subspan(tcp_at_);
  const std::uint64_t pseudo = sum_words(ip.subspan(kIpAddresses, 8)) + IPPROTO_TCP + tcp.size();
  put_word(tcp, kTcpChecksum, 0);
  // The kernel completes the sums of the segments that it cuts joined ones into.
  const unsigned checksum = joined ? fold(pseudo) : ~fold(pseudo + sum_words(tcp)) & 0xffff;
  put_word(tcp, kTcpChecksum, checksum);
  std::memcpy(packet_.data(), &header, sizeof(header));
  return packet_;
}

}  // namespace pareto::netem
