#include "core/transport/inproc/link.h"

#include "core/base/cpu_time.h"
#include "core/transport/frame_options.h"

namespace pareto::transport::inproc {
namespace {

// As little as lets both sides work at once: what a socket's buffers are to the other transports.
constexpr std::size_t kMessagesUnderWay = 2;

}  // namespace

InprocLink::Pair InprocLink::make_pair(const std::string& name, const LinkOptions& connecting,
                                       const LinkOptions& accepting) {
  auto there = std::make_shared<Queue>(kMessagesUnderWay);
  auto back = std::make_shared<Queue>(kMessagesUnderWay);
  const std::string peer = "inproc " + name;
  return {std::make_unique<InprocLink>(there, back, peer, connecting.limits),
          std::make_unique<InprocLink>(back, there, peer, accepting.limits)};
}

InprocLink::InprocLink(std::shared_ptr<Queue> out, std::shared_ptr<Queue> in, std::string peer,
                       const Limits& limits)
    : out_(std::move(out)), in_(std::move(in)), peer_(std::move(peer)), limits_(limits) {}

InprocLink::~InprocLink() { close(); }

Expected<Sent> InprocLink::send(const wire::Message& message, Deadline deadline) {
  const TimePoint start = now();
  const Nanoseconds start_cpu = thread_cpu_time();
  const auto frame =
      wire::encode_frame(message, {.payload_checksum = false}, frame_limits(limits_));
  if (!frame) return with_context(Expected<Sent>(tl::unexpected(frame.error())), "{}", peer_);
  const TimePoint encoded = now();
  PARETO_TRY(
      with_context(out_->push({message, frame->size_bytes()}, deadline), "{}: sending", peer_));
  return Sent{encoded - start, now() - encoded, frame->size_bytes(), thread_cpu_time() - start_cpu};
}

Expected<Received> InprocLink::receive(Deadline deadline) {
  if (closed_) return fail(ErrorCode::kClosed, "{}: the link is closed", peer_);
  auto item = in_->pop(deadline);
  if (!item) {
    return with_context(Expected<Received>(tl::unexpected(item.error())), "{}: receiving", peer_);
  }
  if (item->wire_bytes > limits_.max_frame_bytes) {
    close();
    return fail(ErrorCode::kExhausted,
                "{}: receiving: a frame of {} bytes; at most {} are allowed (max_frame)", peer_,
                item->wire_bytes, limits_.max_frame_bytes);
  }
  Received received;
  received.message = std::move(item->message);
  received.wire_bytes = item->wire_bytes;
  received.arrived = now();
  return received;
}

void InprocLink::close() {
  closed_ = true;
  out_->close();
  in_->close();
}

}  // namespace pareto::transport::inproc
