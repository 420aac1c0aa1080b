// Mutual TLS on a TCP socket, as a stream of bytes. Internal to core/transport/tcp.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/transport/link_options.h"
#include "core/transport/socket.h"
#include "core/transport/tcp/byte_stream.h"
#include "core/transport/tcp/tls_session.h"

namespace pareto::transport::tcp {

/// A socket that never blocks, below TLS 1.3 whose both ends show certificates.
///
/// | event | what the calls return |
/// |---|---|
/// | the peer ends TLS in order | the end of the stream |
/// | the connection ends otherwise | kUnavailable: bytes may be missing |
/// | bytes were changed on their way | kCorrupt |
/// | a certificate does not hold, or names somebody else | kPermission, on both sides |
///
/// What is encrypted cannot be taken back: a write that a deadline ends half-way shuts the stream
/// down.
///
/// Threads: as ByteStream says. One mutex guards the session; nobody waits while holding it.
class TlsStream final : public ByteStream {
 public:
  /// Connects over a connected, non-blocking socket, and checks who is at the other end: the one
  /// that `options` expect, or any device. Waits at most 10 seconds for a silent peer. Fails: as
  /// authenticate(), kExhausted.
  static Expected<std::unique_ptr<ByteStream>> connect(FileDescriptor socket,
                                                       const LinkOptions& options,
                                                       Deadline deadline);
  /// Takes an accepted socket. The handshake waits for authenticate() or the first bytes. Fails:
  /// kExhausted.
  static Expected<std::unique_ptr<ByteStream>> accept(FileDescriptor socket,
                                                      const LinkOptions& options);

  TlsStream(FileDescriptor socket, Waker waker, TlsSide side,
            std::optional<tls::Identity> expected);
  ~TlsStream() override;

  /// Finishes the handshake. Fails: kTimeout (it may go on later), kClosed, kUnavailable,
  /// kPermission (a certificate, or who it names), kCorrupt.
  Expected<> authenticate(Deadline deadline) override;
  Expected<std::size_t> write_some(std::span<const iovec> parts, Deadline deadline) override;
  Expected<std::size_t> read_some(std::span<const iovec> parts, Deadline deadline) override;
  void shut_down() override;
  std::string address() const override { return address_; }
  PeerIdentity identity() const override;

 private:
  static Expected<std::unique_ptr<TlsStream>> open(FileDescriptor socket, TlsSide side,
                                                   const LinkOptions& options);
  /// Takes turns with the peer until both have said all. Gives the lock back while it waits.
  Expected<> shake_hands(std::unique_lock<std::mutex>& lock, Deadline deadline);
  /// Looks at the peer's first byte, once it is there. Fails: kPermission (it speaks no TLS).
  Expected<> check_first_byte();
  /// Finds out who the peer is. Fails: kPermission (somebody else than is expected).
  Expected<> check_peer();
  /// Checks that the stream is neither closed nor broken. Fails: kClosed, and as the stream failed
  /// before. mutex_ is held.
  Expected<> check_open() const;
  /// Sends what is encrypted. Fails: as write_some().
  Expected<> flush(Deadline deadline);
  /// Waits until the socket takes bytes, or the peer has gone.
  Expected<> wait_for_room(Deadline deadline);
  /// Keeps the first error, which ends the stream. mutex_ is held.
  tl::unexpected<Error> note(Error error);
  /// Returns why the peer takes no more bytes, if it has said so; else `otherwise`. mutex_ is held.
  tl::unexpected<Error> cause_or(Error otherwise);

  const FileDescriptor socket_;
  Waker waker_;
  const std::string address_;
  const TlsSide side_;
  const std::optional<tls::Identity> expected_;
  std::atomic<bool> shut_down_ = false;
  std::atomic<bool> peer_ended_ = false;     ///< seen by either direction, told to the writing one
  std::atomic<bool> authenticated_ = false;  ///< the handshake is done, and the peer known

  mutable std::mutex mutex_;
  std::condition_variable shaken_;
  bool shaking_ = false;   ///< a thread is at the handshake
  bool looked_ = false;    ///< at the peer's first byte
  bool writing_ = false;   ///< a write has encrypted bytes, and is not done
  bool owes_end_ = false;  ///< the socket had no room for the farewell
  std::optional<Error> failure_;
  std::optional<tls::Identity> peer_;
  std::string peer_chain_;
  std::unique_ptr<TlsSession> session_;  // last: it uses the socket
};

}  // namespace pareto::transport::tcp
