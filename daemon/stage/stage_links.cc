#include "daemon/stage/stage_links.h"

#include <utility>

#include "core/transport/warm_link.h"

namespace pareto::daemon {

using transport::Link;
using transport::Received;
using wire::Message;
using wire::MessageKind;

namespace {

Error of_link(const char* link, const Error& error) {
  return {error.code, fmt::format("{} link: {}", link, error.message)};
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

Expected<> StageLinks::attach(control::Role role, std::unique_ptr<Link>& link, Deadline deadline) {
  const bool upstream = role == control::Role::kUpstream;
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
  }
  context_.log(LogLevel::kDebug,
               fmt::format("{}: its {} is {}", context_.name(), upstream ? "upstream" : "sink",
                           to_string(attached.identity())));
  // The thread that answers pings starts later: there is one sender at a time.
  PARETO_TRY(attached.send(control::ready_message(context_.pipeline), deadline));
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
  downstream_ =
      transport::keep_warm(std::move(downstream_), context_.pipeline, figures, output_bytes);
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
    if (!received) return tl::unexpected(of_link("upstream", received.error()));
    const Nanoseconds waited = received->arrived - asked;
    PARETO_ASSIGN(const bool whole, take(*received));
    if (whole) return Arrival{*std::move(received), waited};
  }
}

Expected<bool> StageLinks::take(Received& received) {
  switch (received.message.kind) {
    case MessageKind::kPing:
      PARETO_TRY(
          with_context(upstream_answers_.answer(*upstream_, std::move(received)), "upstream link"));
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
  if (!is_part) received.add_earlier(std::exchange(parts_received_, {}));
  return !is_part;
}

Error StageLinks::answer_pings() {
  transport::PingAnswers answers;
  for (;;) {
    auto received = downstream_->receive();
    if (!received) return of_link("downstream", received.error());
    const MessageKind kind = received->message.kind;
    if (kind == MessageKind::kPong) continue;
    if (kind != MessageKind::kPing) {
      return {ErrorCode::kCorrupt, fmt::format("downstream {} sent a message of kind {}",
                                               downstream_->peer(), static_cast<int>(kind))};
    }
    const std::lock_guard sending(send_mutex_);
    const auto answered = answers.answer(*downstream_, *std::move(received));
    if (!answered) return of_link("downstream", answered.error());
  }
}

SendTurn StageLinks::turn_with(std::unique_lock<std::mutex> lock) {
  return {std::move(lock), *downstream_, sender_, context_};
}

SendTurn StageLinks::send_turn() { return turn_with(std::unique_lock(send_mutex_)); }

std::optional<SendTurn> StageLinks::try_send_turn() {
  std::unique_lock lock(send_mutex_, std::try_to_lock);
  if (!lock) return std::nullopt;
  return turn_with(std::move(lock));
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
