#include "daemon/stage/training_link.h"

#include <utility>

#include "core/transport/silence.h"

namespace pareto::daemon {

using wire::MessageKind;

Expected<std::uint64_t> TrainingLink::send(const wire::Message& message, Deadline deadline) {
  const std::lock_guard lock(sending_);
  PARETO_ASSIGN(const transport::Sent sent,
                with_context(link_->send(message, deadline), "{}", name_));
  if (message.kind == MessageKind::kPong) return sent.wire_bytes;
  context_.meter->bytes_sent += sent.wire_bytes;
  context_.meter->sending += (sent.encode + sent.send).count();
  return sent.wire_bytes;
}

Expected<transport::Received> TrainingLink::receive() {
  for (;;) {
    auto next = with_context(link_->receive(), "{}", name_);
    if (!next && link_->is_silent()) ++context_.meter->silent_links;
    PARETO_ASSIGN(transport::Received received, std::move(next));
    if (received.message.kind == MessageKind::kPong) continue;  // it keeps the connection warm
    if (received.message.kind == MessageKind::kPing) {
      const std::lock_guard lock(sending_);
      const Deadline in_patience = deadline_after(transport::kMostPatience);
      PARETO_TRY(
          with_context(answers_.answer(*link_, std::move(received), in_patience), "{}", name_));
      continue;
    }
    if (received.message.pipeline != context_.pipeline) {
      return fail(ErrorCode::kCorrupt, "{}: {} sent a message of pipeline {}", name_, link_->peer(),
                  received.message.pipeline);
    }
    context_.meter->bytes_received += received.wire_bytes;
    context_.meter->receiving += (received.receive + received.decode).count();
    return received;
  }
}

void TrainingLink::close() {
  if (link_) link_->close();
}

}  // namespace pareto::daemon
