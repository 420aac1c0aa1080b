// The accepting end of the tcp transport.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "core/transport/socket.h"
#include "core/transport/transport.h"

namespace pareto::transport::tcp {

/// A socket that tcp links are accepted on.
///
/// Threads: as Listener says.
class TcpListener final : public Listener {
 public:
  static Expected<std::unique_ptr<Listener>> open(const HostPort& address,
                                                  const LinkOptions& options);

  TcpListener(FileDescriptor socket, Waker waker, const LinkOptions& options);
  ~TcpListener() override;

  std::string address() const override { return address_; }
  Expected<std::unique_ptr<Link>> accept(Deadline deadline) override;
  void close() override;

 private:
  const FileDescriptor socket_;
  Waker waker_;
  const LinkOptions options_;
  const std::string address_;
  std::atomic<bool> closed_ = false;
};

}  // namespace pareto::transport::tcp
