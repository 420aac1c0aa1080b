// A server of gRPC that is handed its connections, and turns its calls into streams that wait to be
// accepted. Internal to core/transport/grpc.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/base/bounded_queue.h"
#include "core/base/error.h"
#include "core/base/file_descriptor.h"
#include "core/transport/address.h"
#include "core/transport/grpc/secure.h"
#include "core/transport/grpc/stream.h"
#include "core/transport/link_options.h"

namespace pareto::transport::grpc {

/// A stream that a peer opened.
struct OpenedStream {
  std::shared_ptr<Stream> stream;
  std::string address;           ///< the peer's
  std::optional<GrpcPeer> peer;  ///< whom its certificate names; no value: it needed none
};
/// Links to be accepted, or why connections were refused.
using WaitingQueue = BoundedQueue<Expected<OpenedStream>>;

/// It shows the certificate that was in use when it started, because gRPC takes no other later.
///
/// Threads: one owner.
class ConnectionServer {
 public:
  /// Starts a server whose streams go into `waiting`, which outlives it. `address`: the one that
  /// its connections come to. Fails: kInternal.
  static Expected<std::unique_ptr<ConnectionServer>> start(const HostPort& address,
                                                           const LinkOptions& options,
                                                           WaitingQueue& waiting);
  /// Ends what connections are left. Every link has to have ended.
  ~ConnectionServer();
  ConnectionServer(const ConnectionServer&) = delete;
  ConnectionServer& operator=(const ConnectionServer&) = delete;

  /// Returns whether the certificate that it shows is the one in use.
  bool is_current() const;
  /// Says that another server takes the connections from now on.
  void replace();
  /// Returns whether it carries nothing, and nobody who connected before it was replaced can still
  /// be about to open a link.
  bool is_done() const;
  void take(FileDescriptor connection);

 private:
  struct Impl;
  explicit ConnectionServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pareto::transport::grpc
