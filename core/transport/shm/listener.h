// Listener for links of shared memory.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "core/transport/socket.h"
#include "core/transport/transport.h"

namespace pareto::transport::shm {

/// A Unix socket that links of shared memory begin on.
///
/// Threads: as Listener says.
class ShmListener final : public Listener {
 public:
  /// Listens under a name of this machine. Fails: kPermission (the name is in use),
  /// kInvalidArgument, kExhausted.
  static Expected<std::unique_ptr<Listener>> open(std::string name, const LinkOptions& options);
  ShmListener(FileDescriptor socket, Waker waker, std::string name, const LinkOptions& options);
  ~ShmListener() override;

  std::string address() const override { return name_; }
  Expected<std::unique_ptr<Link>> accept(Deadline deadline) override;
  void close() override;

 private:
  const FileDescriptor socket_;
  Waker waker_;
  const std::string name_;
  const LinkOptions options_;
  std::atomic<bool> closed_ = false;
};

}  // namespace pareto::transport::shm
