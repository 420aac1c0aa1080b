#include "core/transport/shm/transport.h"

#include "core/transport/shm/link.h"
#include "core/transport/shm/listener.h"
#include "core/transport/shm/unix_socket.h"

namespace pareto::transport::shm {
namespace {

/// Links through shared memory, between processes of one machine.
///
/// Threads: any; it has no state.
class ShmTransport final : public Transport {
 public:
  std::string_view name() const override { return "shm"; }
  Reach reach() const override { return Reach::kMachine; }

  Expected<std::unique_ptr<Listener>> listen(const std::string& address,
                                             const LinkOptions& options) override {
    return with_context(ShmListener::open(address, options), "shm");
  }

  Expected<std::unique_ptr<Link>> connect(const std::string& address, Deadline deadline,
                                          const LinkOptions& options) override {
    const auto open = [&]() -> Expected<std::unique_ptr<Link>> {
      PARETO_ASSIGN(FileDescriptor socket, connect_unix(address, deadline));
      return ShmLink::open(std::move(socket), address, options);
    };
    return with_context(open(), "shm");
  }
};

}  // namespace

std::unique_ptr<Transport> make_transport() { return std::make_unique<ShmTransport>(); }

}  // namespace pareto::transport::shm
