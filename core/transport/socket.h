// TCP sockets with errors as values, deadlines, and a way to wake who waits. For core/transport and
// core/metrics.
#pragma once

#include <poll.h>

#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/file_descriptor.h"
#include "core/transport/address.h"

namespace pareto::transport {

/// Wakes every wait_until_ready() on it, present and future.
///
/// Threads: any.
class Waker {
 public:
  /// Makes a waker that nobody has woken. Fails: kExhausted (no descriptors left).
  static Expected<Waker> create();

  void wake();
  int descriptor() const { return event_.get(); }

 private:
  explicit Waker(FileDescriptor event) : event_(std::move(event)) {}
  FileDescriptor event_;
};

/// Waits until one of `events` (POLLIN, POLLOUT, POLLRDHUP) or an error holds on the descriptor;
/// returns what does. `waker` may be null. Fails: kTimeout, kClosed (woken).
Expected<short> wait_until_ready(int descriptor, short events, const Waker* waker,
                                 Deadline deadline);

/// Opens a socket that listens and does not block. Fails: kPermission (port in use or not allowed),
/// kInvalidArgument (no such host, or not this machine's), kExhausted.
Expected<FileDescriptor> open_listener(const HostPort& address);
/// Opens the same at every address that the name has, on one port. An unspecified IPv4 host takes
/// connections by IPv6 as well, if the machine has it. An address that this machine lacks is left
/// out, unless it lacks all. Fails: as open_listener.
Expected<std::vector<FileDescriptor>> open_listeners(const HostPort& address);
/// Accepts the next connection that comes to a listening socket, of any family; non-blocking.
/// Fails: kTimeout, kClosed (woken, or the socket was shut down), kExhausted (no descriptors or
/// memory left).
Expected<FileDescriptor> accept_connection(const FileDescriptor& listening, const Waker& waker,
                                           Deadline deadline);
/// Opens a connected socket that does not block. A name's addresses are tried as connection_race.h
/// says. Looking up a name takes as long as the resolver does, whatever the deadline. Fails:
/// kUnavailable (also where no such host is known), kTimeout, kInvalidArgument (port 0),
/// kExhausted.
Expected<FileDescriptor> open_connection(const HostPort& address, Deadline deadline);

/// Returns the address itself if its host has one address or is unknown. Else returns the host's
/// address that answers first, for libraries that try one after the other. Fails: as
/// open_connection.
Expected<HostPort> pick_address(const HostPort& address, Deadline deadline);

/// Returns "127.0.0.1:40311", of this end or the other; "?" where the socket has none any more.
std::string local_address(const FileDescriptor& socket);
std::string remote_address(const FileDescriptor& socket);

/// The settings by which a kernel notices that a peer's kernel does not answer any more: `probes`
/// of them, one every `interval`, after nothing came for `idle`.
struct KeepAlive {
  std::chrono::seconds idle{};
  std::chrono::seconds interval{};
  int probes = 0;
};
/// Ten seconds, for links whose ends do not judge each other (live_link.h). The receiver notices it
/// first: the sender waits until the kernel gives up repeating what is on its way (some 15 minutes,
/// net.ipv4.tcp_retries2). Of eight probes one comes through even if a fifth of all packets is
/// lost.
inline constexpr KeepAlive kLinkKeepAlive{std::chrono::seconds(2), std::chrono::seconds(1), 8};
/// A minute, for connections whose loss costs more than waiting.
inline constexpr KeepAlive kControlKeepAlive{std::chrono::seconds(20), std::chrono::seconds(10), 4};

/// Sends small messages at once, and ends the connection with a peer that vanished without a word.
void tune_connection(const FileDescriptor& socket, const KeepAlive& keep_alive = kLinkKeepAlive);

/// Returns "connection reset by peer".
std::string errno_text(int number);

}  // namespace pareto::transport
