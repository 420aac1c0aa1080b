#include "core/transport/tcp/listener.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "core/transport/tcp/link.h"

namespace pareto::transport::tcp {

Expected<std::unique_ptr<Listener>> TcpListener::open(const HostPort& address,
                                                      const Limits& limits) {
  PARETO_ASSIGN(FileDescriptor socket, open_listener(address));
  PARETO_ASSIGN(Waker waker, Waker::create());
  return std::make_unique<TcpListener>(std::move(socket), std::move(waker), limits);
}

TcpListener::TcpListener(FileDescriptor socket, Waker waker, const Limits& limits)
    : socket_(std::move(socket)),
      waker_(std::move(waker)),
      limits_(limits),
      address_(local_address(socket_)) {}

TcpListener::~TcpListener() { close(); }

Expected<std::unique_ptr<Link>> TcpListener::accept(Deadline deadline) {
  while (!closed_) {
    FileDescriptor socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket) return TcpLink::open(std::move(socket), limits_);
    const int number = errno;
    if (number == EMFILE || number == ENFILE || number == ENOBUFS || number == ENOMEM) {
      return fail(ErrorCode::kExhausted, "tcp {}: cannot accept: {}", address_, errno_text(number));
    }
    if (number == EAGAIN) {
      PARETO_TRY(with_context(wait_until_ready(socket_.get(), POLLIN, &waker_, deadline),
                              "tcp {}: accepting", address_));
    } else if (number == EBADF || number == EINVAL || number == ENOTSOCK) {
      break;  // shut down by close()
    }
    // Anything else befell a connection that ended before it was accepted: the next one may be well.
  }
  return fail(ErrorCode::kClosed, "tcp {}: the listener is closed", address_);
}

void TcpListener::close() {
  if (closed_.exchange(true)) return;
  // Refuses connections from now on; the descriptor itself stays until no accept() can use it any more.
  ::shutdown(socket_.get(), SHUT_RDWR);
  waker_.wake();
}

}  // namespace pareto::transport::tcp
