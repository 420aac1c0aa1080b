#include "daemon/stage/stage_links.h"

#include <utility>

#include "core/transport/live_link.h"

namespace pareto::daemon {

using transport::Link;
using transport::Received;
using wire::Message;
using wire::MessageKind;

namespace {

/// A peer that takes no answer for so long has no claim to it.
Deadline in_patience() { return deadline_after(transport::kMostPatience); }

Error of_link(const char* name, const Error& error) {
  return {error.code, fmt::format("{} link: {}", name, error.message)};
}

}  // namespace

StageLinks::StageLinks(const StageContext& context, std::unique_ptr<Link> downstream,
                       std::size_t inputs, bool payload_checksum)
    : context_(context),
      sink_connects_(downstream == nullptr),
      payload_checksum_(payload_checksum),
      downstream_(std::move(downstream)),
      inputs_(inputs),
      assembler_(inputs) {}

Expected<> StageLinks::attach(const control::Hello& hello, std::unique_ptr<Link>& link,
                              Deadline deadline) {
  const bool upstream = hello.role == control::Role::kUpstream;
  Link& attached = *link;
  {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Link>& place = upstream ? upstream_ : downstream_;
    if (closed_) return fail(ErrorCode::kClosed, "{} has ended", context_.name());
    if (!upstream && !sink_connects_) {
      return fail(ErrorCode::kInvalidArgument, "{} has a next stage, no sink", context_.name());
    }
    if (place) {
      return fail(ErrorCode::kInvalidArgument, "{} has its {} already", context_.name(),
                  upstream ? "upstream" : "sink");
    }
    if (!payload_checksum_) link->send_without_checksum();
    place = std::move(link);
    if (upstream) in_order_ = hello.in_order;
  }
  context_.log(LogLevel::kDebug,
               fmt::format("{}: its {} is {}", context_.name(), upstream ? "upstream" : "sink",
                           to_string(attached.identity())));
  // The thread that answers pings starts later: there is one sender at a time.
  PARETO_TRY(
      attached.send(control::ready_message(context_.pipeline, hello.answering_beat()), deadline));
  return {};
}

Expected<transport::LinkFigures> StageLinks::prime(std::uint64_t output_bytes, TimePoint deadline) {
  if (sink_connects_) return transport::LinkFigures{};
  PARETO_ASSIGN(const transport::LinkFigures figures,
                transport::prime(*downstream_, context_.pipeline, output_bytes,
                                 transport::PingWay::kThere, deadline));
  context_.meter->round_trip = figures.round_trip.count();
  context_.meter->link_bytes_per_second = figures.bytes_per_second;
  return figures;
}

void StageLinks::keep_warm(const transport::LinkFigures& figures, std::uint64_t output_bytes) {
  const std::lock_guard lock(mutex_);
  if (sink_connects_ || closed_) return;
  downstream_->primed(figures, output_bytes);
  warm_for_ = transport::warm_for(figures, output_bytes);
}

std::uint64_t StageLinks::warm_for() const {
  const std::lock_guard lock(mutex_);
  return warm_for_;
}

Expected<Arrival> StageLinks::receive() {
  for (;;) {
    const TimePoint asked = std::chrono::steady_clock::now();
    auto received = upstream_->receive();
    if (!received) return tl::unexpected(lost("upstream", *upstream_, received.error()));
    const Nanoseconds waited = received->arrived - asked;
    PARETO_ASSIGN(const bool whole, take(*received));
    if (whole) return Arrival{*std::move(received), waited};
  }
}

Expected<bool> StageLinks::take(Received& received) {
  switch (received.message.kind) {
    case MessageKind::kPing:
      PARETO_TRY(
          with_context(upstream_answers_.answer(*upstream_, std::move(received), in_patience()),
                       "upstream link"));
      return false;
    case MessageKind::kPong:
      return false;  // padding: it came to keep the connection warm
    case MessageKind::kPart:
    case MessageKind::kValues:
    case MessageKind::kError:
      return take_request(received);
    case MessageKind::kEnd:
      return true;
    case MessageKind::kHello:
    case MessageKind::kReady:
    case MessageKind::kTrain:
    case MessageKind::kGradient:
    case MessageKind::kStep:
      break;
  }
  return fail(ErrorCode::kCorrupt, "upstream {} sent a message of kind {}", upstream_->peer(),
              static_cast<int>(received.message.kind));
}

Expected<bool> StageLinks::take_request(Received& received) {
  Message& message = received.message;
  if (message.pipeline != context_.pipeline) {
    return fail(ErrorCode::kCorrupt, "upstream {} sent a request of pipeline {}", upstream_->peer(),
                message.pipeline);
  }
  const std::uint64_t request = message.request;
  PARETO_TRY(check_turn(request));
  context_.meter->bytes_received += received.wire_bytes;
  const bool is_part = message.kind == MessageKind::kPart;
  if (is_part) {
    parts_received_.add_earlier(received);
    assembler_.expect(inputs_);
  }
  const Expected<> taken =
      is_part ? assembler_.keep(std::move(message)) : assembler_.complete(message);
  if (!taken) {
    return fail(taken.error().code, "upstream {}: {}", upstream_->peer(), taken.error().message);
  }
  if (is_part) return false;
  due_ = request + 1;
  received.add_earlier(std::exchange(parts_received_, {}));
  return true;
}

Expected<> StageLinks::check_turn(std::uint64_t request) const {
  // A load that begins counts from 0 again.
  if (!in_order_ || !due_ || request == *due_ || request == 0) return {};
  if (request < *due_) {
    return fail(ErrorCode::kCorrupt, "upstream {} sent request {} again: {} is due",
                upstream_->peer(), request, *due_);
  }
  return fail(ErrorCode::kCorrupt, "upstream {} sent request {} when {} was due: some are missing",
              upstream_->peer(), request, *due_);
}

Error StageLinks::lost(const char* name, const Link& link, const Error& error) {
  if (link.is_silent()) ++context_.meter->silent_links;
  return of_link(name, error);
}

Error StageLinks::answer_pings() {
  transport::PingAnswers answers;
  for (;;) {
    auto received = downstream_->receive();
    if (!received) return lost("downstream", *downstream_, received.error());
    const MessageKind kind = received->message.kind;
    if (kind == MessageKind::kPong) continue;
    if (kind != MessageKind::kPing) {
      return {ErrorCode::kCorrupt, fmt::format("downstream {} sent a message of kind {}",
                                               downstream_->peer(), static_cast<int>(kind))};
    }
    // Who waits here does not judge the peer, so the wait has an end.
    const std::unique_lock sending(send_mutex_, transport::kMostPatience);
    if (!sending) {
      return {
          ErrorCode::kUnavailable,
          fmt::format("downstream {}: it takes nothing, and wants answers", downstream_->peer())};
    }
    const auto answered = answers.answer(*downstream_, *std::move(received), in_patience());
    if (!answered) return of_link("downstream", answered.error());
  }
}

SendTurn StageLinks::turn_with(std::unique_lock<std::timed_mutex> lock) {
  return {std::move(lock), *downstream_, sender_, context_};
}

SendTurn StageLinks::send_turn() { return turn_with(std::unique_lock(send_mutex_)); }

std::optional<SendTurn> StageLinks::try_send_turn() {
  std::unique_lock lock(send_mutex_, std::try_to_lock);
  if (!lock) return std::nullopt;
  return turn_with(std::move(lock));
}

std::vector<transport::PeerIdentity> StageLinks::peers() const {
  const std::lock_guard lock(mutex_);
  std::vector<transport::PeerIdentity> all;
  if (upstream_) all.push_back(upstream_->identity());
  if (downstream_) all.push_back(downstream_->identity());
  return all;
}

void StageLinks::close_upstream() {
  Link* upstream = nullptr;
  {
    const std::lock_guard lock(mutex_);
    upstream = upstream_.get();
  }
  if (upstream != nullptr) upstream->close();
}

void StageLinks::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  // No link is set any more, and none is destroyed before this is.
  if (upstream_) upstream_->close();
  if (downstream_) downstream_->close();
}

}  // namespace pareto::daemon
