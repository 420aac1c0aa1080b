#include "daemon/stage/send_turn.h"

#include <algorithm>
#include <utility>

namespace pareto::daemon {
namespace {

using wire::MessageKind;

/// Returns whether the link did not begin to send a message, so that another one may be: a result
/// over the limits.
bool is_refusal(const Error& error) {
  return error.code == ErrorCode::kExhausted || error.code == ErrorCode::kInvalidArgument;
}

/// Returns what is left until a deadline: at least 1 µs, so that the next stage sees that there is
/// one.
Nanoseconds time_left(TimePoint deadline) {
  const Nanoseconds left = deadline - std::chrono::steady_clock::now();
  return std::max<Nanoseconds>(left, std::chrono::microseconds(1));
}

}  // namespace

bool SendTurn::is_cheap_after(Nanoseconds compute) const {
  constexpr int kComputePerSend = 4;
  return state_->last.send * kComputePerSend <= compute;
}

bool SendTurn::prepare(wire::Message& message) {
  if (!state_->refused || state_->refused->request != message.request) return true;
  // The other parts are of no use either.
  if (message.kind == MessageKind::kPart) return false;
  if (message.kind == MessageKind::kValues) {
    message = context_->failure_of(message.request, state_->refused->error);
  }
  return true;
}

Expected<> SendTurn::send(StageItem& item) {
  wire::Message& message = item.message;
  if (!prepare(message)) return {};
  if (message.kind == MessageKind::kValues) {
    item.times.encode = state_->last.encode;
    item.times.send = state_->last.send;
    item.times.send_cpu = state_->last.cpu;
    message.timeline.push_back(item.times);
    if (item.deadline) message.time_left = time_left(*item.deadline);
  }
  auto sent = downstream_->send(message);
  const bool refused = !sent && is_refusal(sent.error());
  if (refused && message.kind == MessageKind::kPart) {
    state_->refused = {message.request, std::move(sent).error()};
    return {};
  }
  if (refused && message.kind == MessageKind::kValues) {
    message = context_->failure_of(message.request, sent.error());
    sent = downstream_->send(message);
  }
  PARETO_ASSIGN(const transport::Sent taken, with_context(std::move(sent), "downstream link"));
  if (message.kind != MessageKind::kEnd) count(message.kind, taken);
  return {};
}

void SendTurn::count(MessageKind kind, const transport::Sent& sent) {
  StageMeter& meter = *context_->meter;
  meter.bytes_sent += sent.wire_bytes;
  meter.sending += (sent.encode + sent.send).count();
  state_->parts += sent;
  if (kind == MessageKind::kPart) return;
  state_->last = std::exchange(state_->parts, {});
  if (kind == MessageKind::kValues) ++meter.answered;
}

}  // namespace pareto::daemon
