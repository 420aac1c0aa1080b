#include "core/transport/shm/link.h"

#include <sys/socket.h>

#include <utility>

#include "core/base/cpu_time.h"
#include "core/transport/frame_options.h"
#include "core/transport/shm/unix_socket.h"

namespace pareto::transport::shm {

Expected<std::unique_ptr<Link>> ShmLink::open(FileDescriptor socket, const std::string& peer,
                                              const LinkOptions& options) {
  PARETO_ASSIGN(Waker waker, Waker::create());
  auto link = std::make_unique<ShmLink>(std::move(socket), std::move(waker), peer, options);
  PARETO_ASSIGN(link->outbox_, Outbox::open(link->socket_, link->waker_, options.limits));
  return link;
}

ShmLink::ShmLink(FileDescriptor socket, Waker waker, const std::string& peer,
                 const LinkOptions& options)
    : socket_(std::move(socket)),
      waker_(std::move(waker)),
      options_(options),
      peer_("shm " + peer),
      codec_(options.codec),
      inbox_(options.limits) {}

ShmLink::~ShmLink() { close(); }

Expected<Sent> ShmLink::send(const wire::Message& message, Deadline deadline) {
  const TimePoint start = now();
  const Nanoseconds start_cpu = thread_cpu_time();
  if (closed_) return fail(ErrorCode::kClosed, "{}: the link is closed", peer_);
  const wire::FrameOptions options{.payload_checksum = false, .codec = codec_};
  const auto frame = wire::encode_frame(message, options, frame_limits(options_.limits));
  if (!frame) return with_context(Expected<Sent>(tl::unexpected(frame.error())), "{}", peer_);
  const TimePoint encoded = now();
  PARETO_TRY(with_context(outbox_->send(*frame, deadline), "{}: sending", peer_));
  return Sent{encoded - start, now() - encoded, frame->size_bytes(), thread_cpu_time() - start_cpu};
}

Expected<Received> ShmLink::receive(Deadline deadline) {
  while (true) {
    if (closed_) return fail(ErrorCode::kClosed, "{}: the link is closed", peer_);
    auto received = receive_packet_once(deadline);
    if (received && *received) return **std::move(received);
    if (received) continue;
    const ErrorCode code = received.error().code;
    // After bytes that are no frame, no later byte can be trusted either.
    if (code == ErrorCode::kCorrupt || code == ErrorCode::kExhausted) close();
    return with_context(Expected<Received>(tl::unexpected(received.error())), "{}: receiving",
                        peer_);
  }
}

Expected<std::optional<Received>> ShmLink::receive_packet_once(Deadline deadline) {
  PARETO_ASSIGN(Packet packet, receive_packet(socket_, buffer_, waker_, deadline));
  Received received;
  received.arrived = now();
  received_bytes_ += sizeof(PacketHeader) + packet.header.bytes;
  const Nanoseconds start_cpu = thread_cpu_time();
  received.wire_bytes = packet.header.bytes;
  if (packet.header.kind == PacketKind::kInline) {
    if (packet.body.size() != packet.header.bytes) {
      return fail(ErrorCode::kCorrupt, "a frame of {} bytes in a packet of {}", packet.header.bytes,
                  packet.body.size());
    }
    PARETO_ASSIGN(received.message,
                  wire::decode_frame(packet.body, frame_limits(options_.limits), &received.decode));
  } else {
    PARETO_ASSIGN(const auto frame, inbox_.take(std::move(packet)));
    if (!frame) return std::nullopt;
    PARETO_ASSIGN(received.message,
                  wire::borrow_frame(frame->bytes, frame->owner, frame_limits(options_.limits),
                                     &received.decode));
  }
  received.receive = now() - received.arrived - received.decode;
  received.cpu = thread_cpu_time() - start_cpu;
  return received;
}

PeerIdentity ShmLink::identity() const {
  const auto user = user_of(socket_);
  if (!user) return {"a process of this machine"};
  return {fmt::format("user {} of this machine", *user), true};
}

void ShmLink::close() {
  if (closed_.exchange(true)) return;
  // What was sent still arrives; the peer then reads the end.
  ::shutdown(socket_.get(), SHUT_WR);
  waker_.wake();
}

}  // namespace pareto::transport::shm
