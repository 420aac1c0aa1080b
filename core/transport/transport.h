// Transports carry messages from one stage to the next. A plug: one folder per transport, one line
// in builtin_transports.cc, and one conformance suite (tests/core/transport/conformance_test.cc).
//
//   Transport --listen--> Listener --accept--> Link        Transport --connect--> Link
//
// Links carry messages both ways. Calls block: a stage has two or three links, each direction with
// a thread of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/transport/link_options.h"
#include "core/transport/peer_identity.h"
#include "core/wire/message.h"

namespace pareto::transport {

struct LinkFigures;  // core/transport/prime.h

struct Received {
  wire::Message message;
  Nanoseconds receive{};         ///< first byte of the frame to the message, without `decode`
  std::uint64_t wire_bytes = 0;  ///< the whole frame
  TimePoint arrived{};           ///< when its first byte was read
  Nanoseconds decode{};          ///< time in codecs
  Nanoseconds cpu{};             ///< processor time of the receiving thread since `arrived`

  /// Counts what came of the same request in a frame of its own, as if it had come right before
  /// this one.
  void add_earlier(const Received& part) {
    arrived -= part.receive + part.decode;
    receive += part.receive;
    decode += part.decode;
    wire_bytes += part.wire_bytes;
    cpu += part.cpu;
  }
};

struct Sent {
  Nanoseconds encode{};  ///< message to frame, codecs included
  Nanoseconds send{};
  std::uint64_t wire_bytes = 0;
  Nanoseconds cpu{};  ///< processor time of the sending thread during both

  Sent& operator+=(const Sent& other) {
    encode += other.encode;
    send += other.send;
    wire_bytes += other.wire_bytes;
    cpu += other.cpu;
    return *this;
  }
};

/// One open connection.
///
/// Threads: one thread may send while another receives; close() may be called from any thread, at
/// any time, more than once.
/// Fails:
/// - kTimeout: the deadline passed. The link can still be used, unless a frame was sent in part:
///   then it closes.
/// - kClosed: either side closed.
/// - kUnavailable: the connection broke.
/// - kCorrupt: the peer's bytes are no frame, or were changed on their way; the link closes.
/// - kPermission: one side does not take the other's certificate, or only one has credentials; the
///   link closes.
/// - kExhausted: a frame is over the limits. One received closes the link. One to be sent is
///   refused before a byte of it went out, and the link lives on.
class Link {
 public:
  virtual ~Link() = default;
  /// Waits until identity() says who the peer is, as well as the transport can tell. A link that
  /// was connected knows it; one that was accepted learns it here, or in the first send or receive,
  /// so that a slow peer delays nobody who accepts.
  virtual Expected<> authenticate(Deadline /*deadline*/ = std::nullopt) { return {}; }
  /// Returns when the transport owns the bytes. Blocks while the peer does not take them: that is
  /// the backpressure.
  virtual Expected<Sent> send(const wire::Message& message, Deadline deadline = std::nullopt) = 0;
  virtual Expected<Received> receive(Deadline deadline = std::nullopt) = 0;
  /// Lets frames of up to `max_frame_bytes` come from now on. Called by the thread that receives;
  /// nothing to do if Limits::max_stranger_frame_bytes did not bound them.
  virtual void trust(std::uint64_t /*max_frame_bytes*/) {}
  /// Sends frames without a checksum of their tensors from now on. The thread that sends calls it.
  virtual void send_without_checksum() {}
  /// Sends tensors by a codec from now on; null: as they are. The thread that sends calls it.
  /// Transports within a process ignore it.
  virtual void send_by(const wire::Codec* /*codec*/) {}
  /// Says what priming found out: messages to come have `boundary_bytes`. A link that keeps itself
  /// warm, or judges its peer, goes by it (live_link.h). No other thread primes it.
  virtual void primed(const LinkFigures& /*figures*/, std::uint64_t /*boundary_bytes*/) {}
  /// Returns how many bytes have come, those of a frame that is not whole included. The thread that
  /// receives calls it. 0: it is not known.
  virtual std::uint64_t received_bytes() const { return 0; }
  /// Returns whether the link ended because its peer showed no life. Any thread.
  virtual bool is_silent() const { return false; }
  /// Wakes both directions here with kClosed; the peer receives what was sent, then kClosed.
  virtual void close() = 0;
  /// Closes, and waits for nothing: the peer may lose what was sent last. Meant for a peer that
  /// hangs.
  virtual void abort() { close(); }
  /// Returns where the peer is, "tcp 127.0.0.1:40312": for logs and errors.
  virtual std::string peer() const = 0;
  /// Returns who the peer is, as far as authenticate() has found out. A name that is not
  /// authenticated is no reason to allow anything.
  virtual PeerIdentity identity() const = 0;
};

/// The accepting end of a transport, at one address.
///
/// Threads: accept from one thread, close from any.
class Listener {
 public:
  virtual ~Listener() = default;
  /// Returns the address to connect to: "127.0.0.1:40311"; the real port if 0 was asked for.
  virtual std::string address() const = 0;
  /// Waits for a peer that connects, and returns the link with it. Fails: kTimeout, kClosed
  /// (close() was called).
  virtual Expected<std::unique_ptr<Link>> accept(Deadline deadline = std::nullopt) = 0;
  /// Stops listening and wakes accept(). Links accepted before live on.
  virtual void close() = 0;
};

/// The distance that the two ends of a link may have.
enum class Reach {
  kProcess,  ///< both in one process
  kMachine,  ///< both in processes of one machine, in one network namespace
  kNetwork,
};

/// Links and listeners may outlive the Transport they came from. Listeners of inproc are found by
/// connect() of the same Transport object only: parts of one process that want to meet share it.
///
/// Threads: any.
class Transport {
 public:
  virtual ~Transport() = default;
  /// Returns "tcp", "grpc", "shm", "inproc": the name in plans and on command lines.
  virtual std::string_view name() const = 0;
  virtual Reach reach() const = 0;
  /// Listens at `address`, "HOST:PORT"; port 0 picks a free one. (Reach below kNetwork: any name;
  /// "" picks one.)
  /// Fails: kPermission (port in use or not allowed), kInvalidArgument (no address), kUnavailable
  /// (not this machine's, or not yet).
  virtual Expected<std::unique_ptr<Listener>> listen(const std::string& address,
                                                     const LinkOptions& options = {}) = 0;
  /// Connects to a listener. Fails: kUnavailable (nobody there), kTimeout, kInvalidArgument,
  /// kPermission (certificates, or somebody else than the expected peer).
  virtual Expected<std::unique_ptr<Link>> connect(const std::string& address, Deadline deadline,
                                                  const LinkOptions& options = {}) = 0;
};

/// Returns every transport of this build, in the order of their names in help texts.
std::vector<std::unique_ptr<Transport>> builtin_transports();
/// Returns the one of that name. Fails: kNotFound, with the names there are.
Expected<std::unique_ptr<Transport>> make_transport(std::string_view name);

}  // namespace pareto::transport
