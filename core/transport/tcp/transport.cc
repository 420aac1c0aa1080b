#include "core/transport/tcp/transport.h"

#include "core/transport/tcp/link.h"
#include "core/transport/tcp/listener.h"

namespace pareto::transport::tcp {
namespace {

/// Links over TCP, plain or with TLS, between machines.
///
/// Threads: any; it has no state.
class TcpTransport final : public Transport {
 public:
  std::string_view name() const override { return "tcp"; }
  Reach reach() const override { return Reach::kNetwork; }

  Expected<std::unique_ptr<Listener>> listen(const std::string& address,
                                             const LinkOptions& options) override {
    const auto open = [&]() -> Expected<std::unique_ptr<Listener>> {
      PARETO_ASSIGN(const HostPort where, parse_host_port(address));
      return TcpListener::open(where, options);
    };
    return with_context(open(), "tcp");
  }

  Expected<std::unique_ptr<Link>> connect(const std::string& address, Deadline deadline,
                                          const LinkOptions& options) override {
    const auto open = [&]() -> Expected<std::unique_ptr<Link>> {
      PARETO_ASSIGN(const HostPort where, parse_host_port(address));
      PARETO_ASSIGN(FileDescriptor socket, open_connection(where, deadline));
      return TcpLink::connect(std::move(socket), deadline, options);
    };
    return with_context(open(), "tcp");
  }
};

}  // namespace

std::unique_ptr<Transport> make_transport() { return std::make_unique<TcpTransport>(); }

}  // namespace pareto::transport::tcp
