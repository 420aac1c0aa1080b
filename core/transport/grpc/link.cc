#include "core/transport/grpc/link.h"

#include "core/base/cpu_time.h"
#include "core/transport/address.h"
#include "core/transport/frame_options.h"
#include "core/transport/prime.h"

namespace pareto::transport::grpc {
namespace {

constexpr Nanoseconds kLinger = std::chrono::seconds(5);

/// `peer`: no value means that the link is not secured.
PeerIdentity identity_of(const std::string& address, const std::optional<GrpcPeer>& peer) {
  if (!peer) return {address};
  return {to_string(peer->identity), true, peer->identity, peer->chain};
}

}  // namespace

GrpcLink::GrpcLink(std::shared_ptr<Stream> stream, std::shared_ptr<void> carrier,
                   std::string address, const std::optional<GrpcPeer>& peer,
                   const LinkOptions& options)
    : carrier_(std::move(carrier)),
      stream_(std::move(stream)),
      address_(std::move(address)),
      identity_(identity_of(address_, peer)),
      peer_("grpc " + address_),
      options_(options),
      decoder_(stranger_limits(options.limits)) {}

GrpcLink::~GrpcLink() {
  stream_->close();
  stream_->wait_until_done(kLinger);
}

Expected<Sent> GrpcLink::send(const wire::Message& message, Deadline deadline) {
  const TimePoint start = now();
  const Nanoseconds start_cpu = thread_cpu_time();
  auto frame = wire::encode_frame(message, frame_options(options_), frame_limits(options_.limits));
  if (!frame) return with_context(Expected<Sent>(tl::unexpected(frame.error())), "{}", peer_);
  auto chunks = to_chunks(*frame, pace_.chunk_bytes());
  const TimePoint encoded = now();
  PARETO_TRY(with_context(stream_->write(std::move(chunks), deadline), "{}: sending", peer_));
  const Nanoseconds took = now() - encoded;
  pace_.sent(frame->size_bytes(), took);
  return Sent{encoded - start, took, frame->size_bytes(), thread_cpu_time() - start_cpu};
}

void GrpcLink::primed(const LinkFigures& figures, std::uint64_t /*boundary_bytes*/) {
  pace_.bound(figures.bytes_per_second);
}

Expected<Received> GrpcLink::receive(Deadline deadline) {
  while (!decoder_.complete()) {
    if (closed_) return fail(ErrorCode::kClosed, "{}: the link is closed", peer_);
    const auto read = read_some(deadline);
    if (read) continue;
    Error error = read.error();
    if (error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kExhausted) close();
    if (error.code == ErrorCode::kClosed && !decoder_.untouched() && !closed_) {
      error.code = ErrorCode::kUnavailable;
      error.message +=
          fmt::format(" inside a frame, after {} bytes of it", decoder_.received_bytes());
    }
    return with_context(Expected<Received>(tl::unexpected(error)), "{}: receiving", peer_);
  }
  return arrival_.take(decoder_);
}

Expected<> GrpcLink::read_some(Deadline deadline) {
  if (chunk_.empty()) {
    PARETO_ASSIGN(const ::grpc::ByteBuffer chunk, stream_->read(deadline));
    PARETO_TRY(chunk_.refill(chunk));
  }
  if (decoder_.untouched()) arrival_.begin();
  return chunk_.feed(decoder_);
}

void GrpcLink::close() {
  closed_ = true;
  stream_->close();
}

void GrpcLink::abort() {
  close();
  stream_->wait_until_done(Nanoseconds(0));
}

}  // namespace pareto::transport::grpc
