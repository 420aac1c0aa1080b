#include "core/transport/tcp/link.h"

#include <algorithm>
#include <span>

#include "core/base/cpu_time.h"
#include "core/transport/frame_options.h"
#include "core/transport/tcp/socket_stream.h"
#include "core/transport/tcp/tls_stream.h"

namespace pareto::transport::tcp {
namespace {

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

Expected<std::unique_ptr<Link>> TcpLink::connect(FileDescriptor socket, Deadline deadline,
                                                 const LinkOptions& options) {
  PARETO_ASSIGN(auto stream, options.credentials
                                 ? TlsStream::connect(std::move(socket), options, deadline)
                                 : SocketStream::open(std::move(socket)));
  return std::make_unique<TcpLink>(std::move(stream), options);
}

Expected<std::unique_ptr<Link>> TcpLink::accept(FileDescriptor socket, const LinkOptions& options) {
  PARETO_ASSIGN(auto stream, options.credentials ? TlsStream::accept(std::move(socket), options)
                                                 : SocketStream::open(std::move(socket)));
  return std::make_unique<TcpLink>(std::move(stream), options);
}

TcpLink::TcpLink(std::unique_ptr<ByteStream> stream, const LinkOptions& options)
    : stream_(std::move(stream)),
      peer_("tcp " + stream_->address()),
      encoder_(frame_options(options), frame_limits(options.limits)),
      decoder_(stranger_limits(options.limits)) {}

Expected<> TcpLink::authenticate(Deadline deadline) {
  return with_context(stream_->authenticate(deadline), "{}", peer_);
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
    const auto written = stream_->write_some(std::span(unsent_).subspan(first), deadline);
    if (!written) {
      // Half a frame is on its way: nothing can follow it but its other half.
      if (started && written.error().code == ErrorCode::kTimeout) close();
      return tl::unexpected(written.error());
    }
    started = true;
    drop_front(unsent_, first, *written);
  }
  return {};
}

Expected<Received> TcpLink::receive(Deadline deadline) {
  while (!decoder_.complete()) {
    if (closed_) return fail(ErrorCode::kClosed, "{}: the link is closed", peer_);
    const auto read = read_some(deadline);
    if (read) continue;
    // After bytes that are no frame, no later byte can be trusted either; nor can a peer that is
    // somebody else.
    const ErrorCode code = read.error().code;
    if (code == ErrorCode::kCorrupt || code == ErrorCode::kExhausted ||
        code == ErrorCode::kPermission) {
      close();
    }
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
  PARETO_ASSIGN(const std::size_t got,
                stream_->read_some(std::span(parts).first(count + 1), deadline));
  if (got == 0) return end_of_stream();
  received_bytes_ += got;
  if (decoder_.untouched()) arrival_.begin();
  ahead_begin_ = 0;
  ahead_end_ = got - std::min(got, asked);
  return decoder_.advance(std::min(got, asked));
}

tl::unexpected<Error> TcpLink::end_of_stream() const {
  if (decoder_.untouched()) return fail(ErrorCode::kClosed, "the peer closed the link");
  return fail(ErrorCode::kUnavailable, "the connection ended inside a frame, after {} bytes of it",
              decoder_.received_bytes());
}

void TcpLink::close() {
  closed_ = true;
  stream_->shut_down();
}

}  // namespace pareto::transport::tcp
