// A TCP socket as a stream of bytes: neither encrypted nor authenticated. Internal to
// core/transport/tcp.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "core/transport/socket.h"
#include "core/transport/tcp/byte_stream.h"

namespace pareto::transport::tcp {

/// A socket that never blocks: calls try first, one system call each, and wait for the socket, the
/// deadline or shut_down() only if nothing moved.
///
/// Threads: as ByteStream says.
class SocketStream final : public ByteStream {
 public:
  /// Takes a connected, non-blocking socket and tunes it. Fails: kExhausted (no descriptors left).
  static Expected<std::unique_ptr<ByteStream>> open(FileDescriptor socket);

  SocketStream(FileDescriptor socket, Waker waker)
      : socket_(std::move(socket)), waker_(std::move(waker)), address_(remote_address(socket_)) {}
  ~SocketStream() override;

  Expected<std::size_t> write_some(std::span<const iovec> parts, Deadline deadline) override;
  Expected<std::size_t> read_some(std::span<const iovec> parts, Deadline deadline) override;
  void shut_down() override;
  std::string address() const override { return address_; }
  PeerIdentity identity() const override { return {address_}; }

 private:
  const FileDescriptor socket_;
  Waker waker_;
  const std::string address_;
  bool begun_ = false;  ///< the reading thread's: the peer's first bytes were looked at
  std::atomic<bool> shut_down_ = false;
  std::atomic<bool> peer_ended_ = false;  ///< seen by either direction, told to the writing one
};

}  // namespace pareto::transport::tcp
