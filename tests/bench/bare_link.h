// What a transport is held against: a TCP connection and nothing else. Bytes behind a header of 16,
// one writev a message, read into memory that is there already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "tests/bench/wire_peer.h"

namespace pareto::bench {

/// A TCP connection of two programs of this bench.
///
/// Threads: one owner.
class BareLink {
 public:
  static Expected<BareLink> connect(std::uint16_t port);
  /// Opens a listening socket on loopback, and its port. Fails: kExhausted.
  static Expected<int> listen(std::uint16_t& port);
  static Expected<BareLink> accept(int listener);

  BareLink(BareLink&& other) noexcept;
  BareLink& operator=(BareLink&&) = delete;
  ~BareLink();

  Expected<> send(Order order, std::span<const std::byte> bytes);
  /// Into body(). Fails: kClosed.
  Expected<Order> receive();
  std::span<const std::byte> body() const { return std::span(body_).first(body_bytes_); }

 private:
  explicit BareLink(int socket) : socket_(socket) {}
  Expected<> read_all(void* into, std::size_t bytes);

  int socket_;
  std::vector<std::byte> body_;
  std::size_t body_bytes_ = 0;
};

}  // namespace pareto::bench
