// The stream that a tcp link stands on: bytes in order, both ways. Internal to core/transport/tcp.
//
//   TcpLink: frames ──▶ ByteStream: bytes        SocketStream: the plain socket
//                                                TlsStream: mutual TLS on a socket
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>
#include <string>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/transport/peer_identity.h"

namespace pareto::transport::tcp {

/// One end of a connection. Each call moves as many bytes as it can at once, in many pieces of
/// memory: one call for a large message costs nothing next to its bytes.
///
/// Threads: one may write while another reads; shut_down() from any, at any time, more than once.
/// Fails: kTimeout (the deadline; of these bytes none has moved, and the stream may be used on),
/// kClosed (shut_down() was called, or the peer reads no more), kUnavailable (the connection
/// broke), kCorrupt (bytes were changed on their way), kPermission (certificates, or only one side
/// has credentials). After the last three nothing moves any more.
class ByteStream {
 public:
  /// Shuts down.
  virtual ~ByteStream() = default;
  /// Waits until identity() is final. The other calls do so first.
  virtual Expected<> authenticate(Deadline /*deadline*/) { return {}; }
  /// Waits until the connection takes a byte, then writes as many of `parts`, in order, as it takes
  /// without waiting. Returns how many. Requires a byte to write.
  virtual Expected<std::size_t> write_some(std::span<const iovec> parts, Deadline deadline) = 0;
  /// Waits until a byte has come, then reads what has come into `parts`, in order, until they are
  /// full. Returns how many bytes; 0: the peer has sent its last one. Requires room for a byte.
  virtual Expected<std::size_t> read_some(std::span<const iovec> parts, Deadline deadline) = 0;
  /// Wakes both directions here with kClosed. The peer reads what was written, then the end.
  virtual void shut_down() = 0;
  /// Returns the address of the other end, "127.0.0.1:40312".
  virtual std::string address() const = 0;
  /// Returns who is at the other end, as far as is known by now.
  virtual PeerIdentity identity() const = 0;
};

}  // namespace pareto::transport::tcp
