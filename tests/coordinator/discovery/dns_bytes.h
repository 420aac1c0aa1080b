// Answers of DNS servers and mDNS responders, byte for byte, for tests of who reads them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/discovery/dns_message.h"

namespace pareto::test {

/// Records one after the other; each call of answer() or more() begins one, what follows is its
/// data.
class DnsBytes {
 public:
  explicit DnsBytes(std::uint16_t id = 7) { u16(id).u16(0x8400).u16(0).u16(0).u16(0).u16(0); }

  DnsBytes& u8(unsigned value) {
    bytes_.push_back(static_cast<std::byte>(value));
    return *this;
  }
  DnsBytes& u16(unsigned value) { return u8(value >> 8 & 0xFF).u8(value & 0xFF); }
  DnsBytes& text(std::string_view text) {
    u8(static_cast<unsigned>(text.size()));
    for (const char c : text) u8(static_cast<unsigned char>(c));
    return *this;
  }
  DnsBytes& name(const discovery::DnsName& labels) {
    for (const std::string& label : labels) text(label);
    return u8(0);
  }
  /// Returns a reference to what stands at an offset.
  DnsBytes& at(unsigned offset) { return u16(0xC000 | offset); }

  DnsBytes& answer(const discovery::DnsName& owner, discovery::DnsType type, unsigned ttl_s = 120) {
    return begin(6, owner, type, ttl_s);
  }
  DnsBytes& more(const discovery::DnsName& owner, discovery::DnsType type, unsigned ttl_s = 120) {
    return begin(10, owner, type, ttl_s);
  }
  DnsBytes& service(unsigned priority, unsigned weight, unsigned port,
                    const discovery::DnsName& target) {
    return u16(priority).u16(weight).u16(port).name(target);
  }
  DnsBytes& ipv4(std::array<unsigned, 4> address) {
    for (const unsigned part : address) u8(part);
    return *this;
  }
  DnsBytes& ipv6(std::array<unsigned, 8> address) {
    for (const unsigned part : address) u16(part);
    return *this;
  }

  std::size_t size() const { return bytes_.size(); }
  std::vector<std::byte> bytes() {
    end();
    return bytes_;
  }
  discovery::DnsMessage message() { return discovery::parse_dns_message(bytes()).value(); }

 private:
  DnsBytes& begin(std::size_t count_at, const discovery::DnsName& owner, discovery::DnsType type,
                  unsigned ttl_s) {
    end();
    bytes_[count_at + 1] = static_cast<std::byte>(static_cast<unsigned>(bytes_[count_at + 1]) + 1);
    // 0x8001: the Internet's, and everything else known of the name is outdated.
    name(owner).u16(static_cast<unsigned>(type)).u16(0x8001).u16(0).u16(ttl_s).u16(0);
    data_at_ = bytes_.size();
    return *this;
  }
  /// The length of the last record's data.
  void end() {
    if (data_at_ == 0) return;
    const std::size_t length = bytes_.size() - data_at_;
    bytes_[data_at_ - 2] = static_cast<std::byte>(length >> 8);
    bytes_[data_at_ - 1] = static_cast<std::byte>(length);
    data_at_ = 0;
  }

  std::vector<std::byte> bytes_;
  std::size_t data_at_ = 0;
};

}  // namespace pareto::test
