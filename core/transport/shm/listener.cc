#include "core/transport/shm/listener.h"

#include <sys/socket.h>

#include <utility>

#include "core/transport/shm/link.h"
#include "core/transport/shm/unix_socket.h"

namespace pareto::transport::shm {

Expected<std::unique_ptr<Listener>> ShmListener::open(std::string name,
                                                      const LinkOptions& options) {
  PARETO_ASSIGN(FileDescriptor socket, listen_unix(name));
  PARETO_ASSIGN(Waker waker, Waker::create());
  return std::make_unique<ShmListener>(std::move(socket), std::move(waker), std::move(name),
                                       options);
}

ShmListener::ShmListener(FileDescriptor socket, Waker waker, std::string name,
                         const LinkOptions& options)
    : socket_(std::move(socket)),
      waker_(std::move(waker)),
      name_(std::move(name)),
      options_(options) {}

ShmListener::~ShmListener() { close(); }

Expected<std::unique_ptr<Link>> ShmListener::accept(Deadline deadline) {
  // Connections that were waiting when it was closed would still be handed out.
  while (!closed_) {
    PARETO_ASSIGN(FileDescriptor socket, with_context(accept_connection(socket_, waker_, deadline),
                                                      "shm {}: accepting", name_));
    // One that went away, or may not share memory with us, harms nobody else.
    if (!is_ours(socket)) continue;
    auto link = ShmLink::open(std::move(socket), name_, options_);
    if (link || link.error().code == ErrorCode::kExhausted) return link;
  }
  return fail(ErrorCode::kClosed, "shm {}: the listener is closed", name_);
}

void ShmListener::close() {
  if (closed_.exchange(true)) return;
  // Refuses connections from now on; the descriptor itself stays until no accept() can use it any
  // more.
  ::shutdown(socket_.get(), SHUT_RDWR);
  waker_.wake();
}

}  // namespace pareto::transport::shm
