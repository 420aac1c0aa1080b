// The accepting end of the grpc transport: a server with one generic method.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "core/transport/address.h"
#include "core/transport/transport.h"

namespace pareto::transport::grpc {

class LinkServer;

/// A listener that refuses connections after close(); links accepted before live on.
///
/// Threads: as Listener says.
class GrpcListener final : public Listener {
 public:
  static Expected<std::unique_ptr<Listener>> open(const HostPort& address,
                                                  const LinkOptions& options);

  GrpcListener(std::shared_ptr<LinkServer> server, std::string address, const LinkOptions& options);
  ~GrpcListener() override;

  std::string address() const override { return address_; }
  Expected<std::unique_ptr<Link>> accept(Deadline deadline) override;
  void close() override;

 private:
  /// Returns the server; null after close().
  std::shared_ptr<LinkServer> server();

  std::mutex mutex_;
  std::shared_ptr<LinkServer> server_;
  const std::string address_;
  const LinkOptions options_;
};

}  // namespace pareto::transport::grpc
