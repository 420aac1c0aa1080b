#include "core/transport/tcp/socket_stream.h"

#include <limits.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/transport/tcp/drain.h"
#include "core/transport/tcp/tls_failure.h"

namespace pareto::transport::tcp {
namespace {

msghdr header_of(std::span<const iovec> parts) {
  msghdr header{};
  header.msg_iov = const_cast<iovec*>(parts.data());
  header.msg_iovlen = std::min<std::size_t>(parts.size(), IOV_MAX);
  return header;
}

tl::unexpected<Error> broken(int number) { return tl::unexpected(broken_connection(number)); }

/// Returns whether bytes begin like a record of TLS, which no frame does: a handshake or an alert.
bool begins_like_tls(const iovec& first, std::size_t got) {
  constexpr unsigned char kAlert = 21;
  constexpr unsigned char kHandshake = 22;
  constexpr unsigned char kVersion = 3;
  const auto* const bytes = static_cast<const unsigned char*>(first.iov_base);
  return std::min(first.iov_len, got) >= 2 && (bytes[0] == kAlert || bytes[0] == kHandshake) &&
         bytes[1] == kVersion;
}

}  // namespace

Expected<std::unique_ptr<ByteStream>> SocketStream::open(FileDescriptor socket) {
  PARETO_ASSIGN(Waker waker, Waker::create());
  tune_connection(socket);
  return std::make_unique<SocketStream>(std::move(socket), std::move(waker));
}

SocketStream::~SocketStream() {
  shut_down();
  drain(socket_);
}

Expected<std::size_t> SocketStream::write_some(std::span<const iovec> parts, Deadline deadline) {
  const msghdr header = header_of(parts);
  while (true) {
    if (shut_down_) return fail(ErrorCode::kClosed, "the link is closed");
    if (peer_ended_) return fail(ErrorCode::kClosed, "the peer closed the link");
    const ssize_t written = ::sendmsg(socket_.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written >= 0) return static_cast<std::size_t>(written);
    const int number = errno;
    if (number == EAGAIN) {
      PARETO_ASSIGN(const short ready,
                    wait_until_ready(socket_.get(), POLLOUT | POLLRDHUP, &waker_, deadline));
      // A peer that closed reads no more: it would never make room.
      if ((ready & POLLRDHUP) != 0) peer_ended_ = true;
    } else if (number == EPIPE) {
      return fail(ErrorCode::kClosed, "the {} closed the link", shut_down_ ? "owner" : "peer");
    } else if (number != EINTR) {
      return broken(number);
    }
  }
}

Expected<std::size_t> SocketStream::read_some(std::span<const iovec> parts, Deadline deadline) {
  msghdr header = header_of(parts);
  while (true) {
    if (shut_down_) return fail(ErrorCode::kClosed, "the link is closed");
    const ssize_t got = ::recvmsg(socket_.get(), &header, MSG_DONTWAIT);
    if (got == 0) peer_ended_ = true;
    if (got >= 0) {
      const auto bytes = static_cast<std::size_t>(got);
      if (!std::exchange(begun_, true) && begins_like_tls(parts.front(), bytes)) {
        send_version_alert(socket_);
        return tl::unexpected(speaks_tls());
      }
      return bytes;
    }
    const int number = errno;
    if (number == EAGAIN) {
      PARETO_TRY(wait_until_ready(socket_.get(), POLLIN, &waker_, deadline));
    } else if (number != EINTR) {
      return broken(number);
    }
  }
}

void SocketStream::shut_down() {
  if (shut_down_.exchange(true)) return;
  // What was sent still arrives; the peer then reads the end of the stream.
  ::shutdown(socket_.get(), SHUT_WR);
  waker_.wake();
}

}  // namespace pareto::transport::tcp
