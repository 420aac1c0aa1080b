#include "core/transport/tcp/link.h"

#include <limits.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "core/base/cpu_time.h"
#include "core/transport/limits.h"

namespace pareto::transport::tcp {
namespace {

TimePoint now() { return std::chrono::steady_clock::now(); }

/// Takes the first `count` bytes away from what is still to be sent.
void drop_front(std::vector<iovec>& parts, std::size_t& first, std::size_t count) {
  while (count > 0) {
    iovec& part = parts[first];
    const std::size_t taken = std::min(count, part.iov_len);
    part.iov_base = static_cast<std::byte*>(part.iov_base) + taken;
    part.iov_len -= taken;
    count -= taken;
    if (part.iov_len == 0) ++first;
  }
}

}  // namespace

Expected<std::unique_ptr<Link>> TcpLink::open(FileDescriptor socket, const Limits& limits) {
  PARETO_ASSIGN(Waker waker, Waker::create());
  tune_connection(socket);
  return std::make_unique<TcpLink>(std::move(socket), std::move(waker), limits);
}

TcpLink::TcpLink(FileDescriptor socket, Waker waker, const Limits& limits)
    : socket_(std::move(socket)),
      waker_(std::move(waker)),
      peer_("tcp " + remote_address(socket_)),
      encoder_(frame_options(limits), frame_limits(limits)),
      decoder_(stranger_limits(limits)) {}

TcpLink::~TcpLink() {
  close();
  // Closing a socket with unread bytes resets the connection, and what we sent last would be lost
  // with it.
  constexpr int kMostRounds = 64;
  for (int round = 0; round < kMostRounds; ++round) {
    if (::recv(socket_.get(), nullptr, 1 << 20, MSG_TRUNC | MSG_DONTWAIT) <= 0) break;
  }
}

Expected<Sent> TcpLink::send(const wire::Message& message, Deadline deadline) {
  const TimePoint start = now();
  const Nanoseconds start_cpu = thread_cpu_time();
  auto frame = encoder_.encode(message);
  if (!frame) return with_context(Expected<Sent>(tl::unexpected(frame.error())), "{}", peer_);
  const TimePoint encoded = now();
  PARETO_TRY(with_context(write(*frame, deadline), "{}: sending", peer_));
  const Sent sent{encoded - start, now() - encoded, frame->size_bytes(),
                  thread_cpu_time() - start_cpu};
  encoder_.reuse(*std::move(frame));
  return sent;
}

Expected<> TcpLink::write(wire::EncodedFrame& frame, Deadline deadline) {
  // A packet more costs less than to let the receiver wait for the checksum of so much.
  constexpr std::uint64_t kLargeBytes = 64 << 10;
  const bool trailer_apart = frame.size_bytes() >= kLargeBytes;
  const auto add = [&](std::span<const std::byte> bytes) {
    if (!bytes.empty()) unsent_.push_back({const_cast<std::byte*>(bytes.data()), bytes.size()});
  };
  unsent_.clear();
  for (const auto& piece : frame.pieces()) add(piece.bytes);
  if (trailer_apart) {
    PARETO_TRY(write_all(false, deadline));
    unsent_.clear();
  }
  add(frame.trailer());
  return write_all(trailer_apart, deadline);
}

Expected<> TcpLink::write_all(bool started, Deadline deadline) {
  std::size_t first = 0;
  while (first < unsent_.size()) {
    if (closed_) return fail(ErrorCode::kClosed, "the link is closed");
    if (peer_closed_) return fail(ErrorCode::kClosed, "the peer closed the link");
    msghdr header{};
    header.msg_iov = unsent_.data() + first;
    header.msg_iovlen = std::min<std::size_t>(unsent_.size() - first, IOV_MAX);
    const ssize_t written = ::sendmsg(socket_.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written >= 0) {
      started = started || written > 0;
      drop_front(unsent_, first, static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      const auto ready = wait_until_ready(socket_.get(), POLLOUT | POLLRDHUP, &waker_, deadline);
      if (!ready) {
        // Half a frame is on its way: nothing can follow it but its other half.
        if (started && ready.error().code == ErrorCode::kTimeout) close();
        return tl::unexpected(ready.error());
      }
      // A peer that closed reads no more: it would never make room.
      if ((*ready & POLLRDHUP) != 0) peer_closed_ = true;
    } else if (errno == EPIPE) {
      return fail(ErrorCode::kClosed, "the {} closed the link", closed_ ? "owner" : "peer");
    } else if (errno != EINTR) {
      return fail(ErrorCode::kUnavailable, "the connection broke: {}", errno_text(errno));
    }
  }
  return {};
}

Expected<Received> TcpLink::receive(Deadline deadline) {
  while (!decoder_.complete()) {
    if (closed_) return fail(ErrorCode::kClosed, "{}: the link is closed", peer_);
    const auto read = read_some(deadline);
    if (read) continue;
    // After bytes that are no frame, no later byte can be trusted either.
    const ErrorCode code = read.error().code;
    if (code == ErrorCode::kCorrupt || code == ErrorCode::kExhausted) close();
    return with_context(Expected<Received>(tl::unexpected(read.error())), "{}: receiving", peer_);
  }
  return arrival_.take(decoder_);
}

Expected<> TcpLink::read_some(Deadline deadline) {
  if (ahead_begin_ != ahead_end_) {
    if (decoder_.untouched()) arrival_.begin();
    const auto bytes = std::span(ahead_).subspan(ahead_begin_, ahead_end_ - ahead_begin_);
    PARETO_ASSIGN(const std::size_t used, decoder_.feed(bytes));
    ahead_begin_ += used;
    return {};
  }
  constexpr std::size_t kMostPieces = 64;
  std::array<std::span<std::byte>, kMostPieces> pieces;
  std::array<iovec, kMostPieces + 1> parts;
  const std::size_t count = decoder_.next(pieces);
  std::size_t asked = 0;
  for (std::size_t i = 0; i < count; ++i) {
    parts[i] = {pieces[i].data(), pieces[i].size()};
    asked += pieces[i].size();
  }
  // Small frames come whole with one call: what follows the header lands in the buffer behind it.
  parts[count] = {ahead_.data(), ahead_.size()};
  msghdr header{};
  header.msg_iov = parts.data();
  header.msg_iovlen = count + 1;
  const ssize_t got = ::recvmsg(socket_.get(), &header, MSG_DONTWAIT);
  if (got == 0) return end_of_stream();
  if (got < 0) {
    if (errno == EINTR) return {};
    if (errno == EAGAIN) {
      PARETO_TRY(wait_until_ready(socket_.get(), POLLIN, &waker_, deadline));
      return {};
    }
    return fail(ErrorCode::kUnavailable, "the connection broke: {}", errno_text(errno));
  }
  if (decoder_.untouched()) arrival_.begin();
  const auto bytes = static_cast<std::size_t>(got);
  ahead_begin_ = 0;
  ahead_end_ = bytes - std::min(bytes, asked);
  return decoder_.advance(std::min(bytes, asked));
}

Expected<> TcpLink::end_of_stream() {
  peer_closed_ = true;
  if (decoder_.untouched()) return fail(ErrorCode::kClosed, "the peer closed the link");
  return fail(ErrorCode::kUnavailable, "the connection ended inside a frame, after {} bytes of it",
              decoder_.received_bytes());
}

void TcpLink::close() {
  if (closed_.exchange(true)) return;
  // What was sent still arrives; the peer then reads the end of the stream.
  ::shutdown(socket_.get(), SHUT_WR);
  waker_.wake();
}

}  // namespace pareto::transport::tcp
