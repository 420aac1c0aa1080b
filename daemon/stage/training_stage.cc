#include "daemon/stage/training_stage.h"

#include <algorithm>
#include <utility>

#include "core/control/hello.h"
#include "core/transport/prime.h"

namespace pareto::daemon {
namespace {

using transport::Link;
using wire::Message;
using wire::MessageKind;

/// More messages than a step has of each kind. A step needs room for all gradients that come while
/// others go forward, or two stages would wait for each other.
constexpr std::size_t kMostWaiting = plan::kMostMicroBatches + 2;

/// A peer that sends more waits. A step that needs more, which its pipeline does not get on with
/// then, fails by the coordinator's timeout.
constexpr MessageQueue::Budget kMostBytes{
    std::uint64_t{2} << 30, [](const Message& message) { return tensor_bytes(message.body); }};

/// Time to tell the sink why training ends.
constexpr std::chrono::seconds kToTell{1};

/// Returns null of a name that no codec has: who loads the shard checks it.
const wire::Codec* codec_named(const std::string& name) {
  return wire::find_codec(name).value_or(nullptr);
}

}  // namespace

TrainingStage::TrainingStage(StageParts parts)
    : HostedStage(std::move(parts.context), parts.downstream != nullptr),
      sink_connects_(parts.downstream == nullptr),
      payload_checksum_(parts.payload_checksum),
      gradient_codec_(codec_named(parts.shard->options().training->settings.gradient_codec)),
      upstream_(context_, "upstream link"),
      downstream_(context_, "downstream link"),
      from_upstream_(kMostWaiting, kMostBytes),
      from_downstream_(kMostWaiting, kMostBytes),
      to_upstream_(kMostWaiting, kMostBytes),
      to_downstream_(kMostWaiting, kMostBytes),
      work_(
          context_, parts.shard, std::move(parts.turns), [] { return false; },
          [](const Message&) {}) {
  if (!sink_connects_) downstream_.set(std::move(parts.downstream));
  steps_.emplace(context_, work_, parts.shard->options().training->settings,
                 TrainingQueues{from_upstream_, from_downstream_, to_upstream_, to_downstream_},
                 sent_);
}

TrainingStage::~TrainingStage() { end_and_join(); }

Expected<> TrainingStage::attach(const control::Hello& hello, std::unique_ptr<Link>& link,
                                 Deadline deadline) {
  const bool upstream = hello.role == control::Role::kUpstream;
  const char* const called = upstream ? "upstream" : "sink";
  TrainingLink& place = upstream ? upstream_ : downstream_;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return fail(ErrorCode::kClosed, "{} has ended", context_.name());
    if (!upstream && !sink_connects_) {
      return fail(ErrorCode::kInvalidArgument, "{} has a next stage, no sink", context_.name());
    }
    if (place.is_set()) {
      return fail(ErrorCode::kInvalidArgument, "{} has its {} already", context_.name(), called);
    }
    if (!payload_checksum_) link->send_without_checksum();
    if (upstream) link->send_by(gradient_codec_);
    place.set(std::move(link));
  }
  const Message answer = control::ready_message(context_.pipeline, hello.answering_beat());
  if (auto ready = place.send(answer, deadline); !ready) {
    end(ready.error().message);
    return tl::unexpected(std::move(ready).error());
  }
  return serve(hello.role, [this, upstream, &place] {
    receive(place, upstream ? from_upstream_ : from_downstream_);
  });
}

Expected<transport::LinkFigures> TrainingStage::prime(std::uint64_t output_bytes,
                                                      TimePoint deadline) {
  if (sink_connects_) return transport::LinkFigures{};
  PARETO_ASSIGN(const auto figures,
                transport::prime(downstream_.link(), context_.pipeline, output_bytes,
                                 transport::PingWay::kThere, deadline));
  context_.meter->round_trip = figures.round_trip.count();
  context_.meter->link_bytes_per_second = figures.bytes_per_second;
  return figures;
}

Expected<> TrainingStage::start_threads(const transport::LinkFigures& figures,
                                        std::uint64_t /*output_bytes*/) {
  if (!sink_connects_) {
    downstream_.link().primed(figures, 0);
    PARETO_TRY(start_thread([this] { receive(downstream_, from_downstream_); }));
  }
  PARETO_TRY(start_thread([this] { compute(); }));
  PARETO_TRY(start_thread([this] { send(to_upstream_, upstream_); }));
  return start_thread([this] { send(to_downstream_, downstream_); });
}

void TrainingStage::receive(TrainingLink& from, MessageQueue& queue) {
  for (;;) {
    auto received = from.receive();
    if (!received && &from == &upstream_ && is_draining()) break;
    if (!received) return link_ended(received.error());
    // Told at once: the peer that sent it closes its link now.
    if (received->message.kind == MessageKind::kError) {
      return break_off(control::error_of(received->message));
    }
    const bool last = received->message.kind == MessageKind::kEnd;
    if (!queue.push(std::move(received->message))) return;
    if (last) return;
  }
  Message message;
  message.kind = MessageKind::kEnd;
  message.pipeline = context_.pipeline;
  static_cast<void>(queue.push(std::move(message)));
}

void TrainingStage::compute() {
  while (auto message = from_upstream_.pop()) {
    const auto goes_on = handle(*std::move(message));
    if (!goes_on) return break_off(goes_on.error());
    if (!*goes_on) return;
  }
}

Expected<bool> TrainingStage::handle(Message message) {
  StageMeter& meter = *context_.meter;
  switch (message.kind) {
    case MessageKind::kTrain: {
      ++meter.in_flight;
      const auto done = steps_->run(std::move(message));
      --meter.in_flight;
      PARETO_TRY(done);
      return true;
    }
    case MessageKind::kValues:
      PARETO_TRY(evaluate(std::move(message)));
      return true;
    case MessageKind::kEnd:
      PARETO_TRY(to_downstream_.push(std::move(message)));
      return false;
    default:
      return fail(ErrorCode::kCorrupt, "upstream sent a message of kind {} between two steps",
                  static_cast<int>(message.kind));
  }
}

Expected<> TrainingStage::evaluate(Message message) {
  StageMeter& meter = *context_.meter;
  ++meter.requests;
  StageItem item;
  item.message = std::move(message);
  item.times.stage = context_.stage;
  item.queued = std::chrono::steady_clock::now();
  work_.compute(item);
  item.message.timeline.push_back(item.times);
  return to_downstream_.push(std::move(item.message));
}

void TrainingStage::send(MessageQueue& queue, TrainingLink& to) {
  while (auto message = queue.pop()) {
    const bool last = message->kind == MessageKind::kEnd;
    const auto sent = to.send(*message);
    if (!sent) return link_ended(sent.error());
    // A frame has its headers too: a message without a codec counts as its tensors alone.
    if (TrainingSteps::counts(*message)) sent_.add(std::min(*sent, tensor_bytes(message->body)));
    if (message->kind == MessageKind::kValues) ++context_.meter->answered;
    if (last) return end(std::nullopt);
  }
}

void TrainingStage::link_ended(const Error& error) {
  // Once the end has been announced anybody may leave.
  if (error.code == ErrorCode::kClosed && is_draining()) return end(std::nullopt);
  end(error.message);
}

void TrainingStage::break_off(const Error& error) {
  // A closed queue means that the stage has ended already.
  if (ended_) return;
  if (error.code == ErrorCode::kClosed && is_draining()) return end(std::nullopt);
  const bool opened = [&] {
    const std::lock_guard lock(mutex_);
    return state_ != control::StageState::kOpening;
  }();
  // Before, there may be no link downstream, or one that is being primed.
  if (opened) {
    Message message = context_.failure_of(0, error);
    message.pipeline = context_.pipeline;
    static_cast<void>(downstream_.send(message, deadline_after(kToTell)));
  }
  end(error.message);
}

Expected<control::StageReport> TrainingStage::change_shard(std::shared_ptr<LoadedShard> /*shard*/) {
  return fail(ErrorCode::kInvalidArgument, "{} trains: it keeps its shard", context_.name());
}

std::vector<transport::PeerIdentity> TrainingStage::peers() const {
  const std::lock_guard lock(mutex_);
  std::vector<transport::PeerIdentity> all;
  for (const TrainingLink* const link : {&upstream_, &downstream_}) {
    if (link->is_set()) all.push_back(link->peer());
  }
  return all;
}

void TrainingStage::close_parts() {
  {
    // A link that is being attached is set under it.
    const std::lock_guard lock(mutex_);
    upstream_.close();
    downstream_.close();
  }
  for (MessageQueue* const queue :
       {&from_upstream_, &from_downstream_, &to_upstream_, &to_downstream_}) {
    queue->close();
  }
  sent_.close();
}

}  // namespace pareto::daemon
