// Accepts connections for gRPC's server. gRPC 1.51 gives up its listening socket for good at the
// first accept() that fails, for example when the process has no descriptors left. This one waits
// until there are some.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/base/rare_line.h"
#include "core/transport/open_connections.h"
#include "core/transport/socket.h"

namespace pareto::transport {

/// Hands every connection on, from a thread of its own, until it is destroyed; what it handed on
/// lives on. The last descriptors of the process stay for others (files, links). If only they are
/// left, the host with the most connections loses its oldest to a host with fewer, and all others
/// are closed at once: many strangers do not keep out one who has few. So is a connection of a host
/// that has kMostOfOneHost open. Addresses of one network of IPv6 count as one host (site.h).
///
/// Threads: one owner.
class ConnectionFeed {
 public:
  using Take = std::function<void(FileDescriptor connection)>;
  /// The callback for what went wrong with the connections of the last second or more, and how many
  /// were refused.
  using Complain = std::function<void(const Error& error)>;

  /// Descriptors above this number are for others, however many the process may have.
  static constexpr int kMostDescriptors = 4096;
  /// The most descriptors that are kept for others, of those that the process may have. Connections
  /// that were ended to make room may take half of them, until they are gone.
  static constexpr int kReserve = 128;
  /// Connections that one host may have at a listening socket.
  static constexpr int kMostOfOneHost = 256;

  /// Starts accepting on `listening`, at least one. Calls both functions on the feed's thread.
  /// Fails: kExhausted (no descriptor, no thread).
  static Expected<std::unique_ptr<ConnectionFeed>> start(std::vector<FileDescriptor> listening,
                                                         Take take, Complain complain);
  /// Takes no more connections, and joins.
  ~ConnectionFeed();
  ConnectionFeed(const ConnectionFeed&) = delete;
  ConnectionFeed& operator=(const ConnectionFeed&) = delete;

  /// Returns "127.0.0.1:40311", of the first listening socket.
  std::string address() const { return local_address(listening_.front()); }

 private:
  ConnectionFeed(std::vector<FileDescriptor> listening, Waker waker, Take take, Complain complain);
  void run();
  /// Accepts all that wait on one socket. Fails: kExhausted.
  Expected<> accept_from(const FileDescriptor& listening);
  void refuse(const std::string& why);

  const std::vector<FileDescriptor> listening_;
  Waker waker_;
  const Take take_;
  const Complain complain_;
  OpenConnections open_{kMostOfOneHost};       ///< used on the feed's thread
  RareLine refused_{std::chrono::seconds(1)};  ///< complaints
  std::jthread thread_;                        // last: it uses all of the above
};

}  // namespace pareto::transport
