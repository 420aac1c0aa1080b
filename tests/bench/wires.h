// Wires between this process and the far end of the transport benches (wire_peer.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "tests/bench/wire_peer.h"

namespace pareto::bench {

/// Rounds of a bench of transports; a first one warms up.
inline constexpr int kTransportRounds = 15;

/// One way to move a tensor's bytes to the peer and back. Threads: one owner.
class Wire {
 public:
  virtual ~Wire() = default;
  virtual Expected<> send(Order order) = 0;
  virtual Expected<> receive() = 0;
  /// Once everything sent before has arrived: processor time that both ends have spent since they
  /// began.
  virtual Expected<Nanoseconds> report() = 0;
};

/// The terms of a wire.
struct WireOptions {
  bool checksum = false;  ///< each tensor has one
  bool secured = false;   ///< mutual TLS
};

/// The far end, a process of its own on another core, if there is one. Threads: one owner.
class WirePeer {
 public:
  static Expected<std::unique_ptr<WirePeer>> start();
  ~WirePeer();
  WirePeer(const WirePeer&) = delete;
  WirePeer& operator=(const WirePeer&) = delete;

  /// Opens a wire for a tensor of that many bytes: over a transport, a "bare" socket, or by "copy",
  /// one memcpy each way.
  Expected<std::unique_ptr<Wire>> wire(const std::string& transport, std::int64_t bytes,
                                       const WireOptions& options = {});

 private:
  struct Impl;
  explicit WirePeer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Returns how many messages of that size make about `total` bytes: 3 to 200.
int messages_of(std::int64_t bytes, std::int64_t total);

/// Appends the times of `count` round trips, in microseconds.
Expected<> round_trips(Wire& wire, int count, std::vector<double>& samples);

/// Times of a one-way stream of messages.
struct Stream {
  double seconds = 0;
  double processor_seconds = 0;  ///< time of both ends' processors
};
Expected<Stream> stream(Wire& wire, int count);

}  // namespace pareto::bench
