#include "core/transport/tcp/listener.h"

#include <sys/socket.h>

#include "core/transport/tcp/link.h"

namespace pareto::transport::tcp {

Expected<std::unique_ptr<Listener>> TcpListener::open(const HostPort& address,
                                                      const LinkOptions& options) {
  PARETO_ASSIGN(FileDescriptor socket, open_listener(address));
  PARETO_ASSIGN(Waker waker, Waker::create());
  return std::make_unique<TcpListener>(std::move(socket), std::move(waker), options);
}

TcpListener::TcpListener(FileDescriptor socket, Waker waker, const LinkOptions& options)
    : socket_(std::move(socket)),
      waker_(std::move(waker)),
      options_(options),
      address_(local_address(socket_)) {}

TcpListener::~TcpListener() { close(); }

Expected<std::unique_ptr<Link>> TcpListener::accept(Deadline deadline) {
  PARETO_ASSIGN(FileDescriptor socket, with_context(accept_connection(socket_, waker_, deadline),
                                                    "tcp {}: accepting", address_));
  return TcpLink::accept(std::move(socket), options_);
}

void TcpListener::close() {
  if (closed_.exchange(true)) return;
  // Refuses connections from now on; the descriptor itself stays until no accept() can use it any
  // more.
  ::shutdown(socket_.get(), SHUT_RDWR);
  waker_.wake();
}

}  // namespace pareto::transport::tcp
