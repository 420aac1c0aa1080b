#include "daemon/stage/stage.h"

#include <utility>

#include "core/base/counted.h"
#include "core/base/text.h"

namespace pareto::daemon {
namespace {

using transport::Link;
using wire::Message;
using wire::MessageKind;

Message end_message(std::uint64_t pipeline) {
  Message message;
  message.kind = MessageKind::kEnd;
  message.pipeline = pipeline;
  return message;
}

/// Many times what it takes from a result sent to its request counted.
constexpr std::chrono::milliseconds kCounting{100};

}  // namespace

Stage::Stage(StageParts parts)
    : HostedStage(std::move(parts.context), parts.downstream != nullptr),
      links_(context_, std::move(parts.downstream), parts.shard->shard().inputs.size(),
             parts.payload_checksum),
      to_compute_(parts.queue, {parts.queue_bytes, StageItem::bytes_of}),
      to_send_(parts.queue, parts.queue_bytes),
      work_(
          context_, std::move(parts.shard), std::move(parts.turns),
          // Only the thread that computes adds to that queue: an empty one stays empty.
          [this] { return to_send_.empty(); },
          [this](Message part) {
            const std::uint64_t bytes = tensor_bytes(part.body);
            static_cast<void>(to_send_.push({std::move(part), {}, {}, bytes}));
          }) {}

Stage::~Stage() { end_and_join(); }

Expected<> Stage::attach(const control::Hello& hello, std::unique_ptr<Link>& link,
                         Deadline deadline) {
  if (auto taken = links_.attach(hello, link, deadline); !taken) {
    if (!link) end("answering hello: " + taken.error().message);
    return taken;
  }
  return hello.role == control::Role::kUpstream
             ? serve(hello.role, [this] { receive_requests(); })
             : serve(hello.role, [this] { downstream_ended(links_.answer_pings()); });
}

Expected<transport::LinkFigures> Stage::prime(std::uint64_t output_bytes, TimePoint deadline) {
  return links_.prime(output_bytes, deadline);
}

Expected<> Stage::start_threads(const transport::LinkFigures& figures, std::uint64_t output_bytes) {
  if (!links_.sink_connects()) {
    links_.keep_warm(figures, output_bytes);
    PARETO_TRY(start_thread([this] { downstream_ended(links_.answer_pings()); }));
  }
  PARETO_TRY(start_thread([this] { compute_requests(); }));
  PARETO_TRY(start_thread([this] { send_results(); }));
  running_ = true;
  return {};
}

void Stage::receive_requests() {
  for (;;) {
    auto arrival = links_.receive();
    if (!arrival && !is_draining()) return end(arrival.error().message);
    if (!arrival || arrival->received.message.kind == MessageKind::kEnd) break;
    transport::Received& received = arrival->received;
    StageMeter& meter = *context_.meter;
    if (received.message.kind == MessageKind::kValues) ++meter.requests;
    meter.receiving += (received.receive + received.decode).count();
    const bool alone = meter.in_flight++ == 0;
    const bool at_once = alone && may_compute_at_once(*arrival);
    StageItem item = item_of(std::move(received), context_.stage);
    // A thread that receives does not wait for its turn: pings are to be answered.
    auto turn = at_once ? work_.try_turn(item) : std::nullopt;
    const bool goes_on = turn ? compute_and_send(item, std::move(turn))
                              : to_compute_.push(std::move(item)).has_value();
    if (!goes_on) return;
  }
  note_draining();
  // A closed queue means that the stage has ended another way.
  static_cast<void>(to_compute_.push({end_message(context_.pipeline)}));
}

bool Stage::may_compute_at_once(const Arrival& arrival) const {
  // A message that was there already may have another one behind it, to be received while this one
  // is computed.
  constexpr Nanoseconds kIdle = std::chrono::microseconds(20);
  // What links buffer by themselves: the next message of that size can come in meanwhile.
  constexpr std::uint64_t kBuffered = 1 << 20;
  // An engine's threads belong to the thread that runs it.
  return running_ && arrival.waited > kIdle && arrival.received.wire_bytes <= kBuffered &&
         work_.shard()->options().threads == 1;
}

void Stage::compute_requests() {
  while (auto item = to_compute_.pop()) {
    if (ended_ || !compute_and_send(*item)) return;
  }
}

bool Stage::compute_and_send(StageItem& item, std::optional<StageWork::Turn> turn) {
  work_.compute(item, std::move(turn));
  if (to_send_.idle() && to_compute_.size() == 0) {
    auto sending = links_.try_send_turn();
    if (sending && sending->is_cheap_after(item.times.compute)) {
      return send(item, *std::move(sending));
    }
  }
  const bool last = item.message.kind == MessageKind::kEnd;
  return to_send_.push(std::move(item)) && !last;
}

void Stage::send_results() {
  while (auto item = to_send_.pop()) {
    if (ended_ || !send(*item, links_.send_turn())) return;
    to_send_.sent();
  }
}

bool Stage::send(StageItem& item, SendTurn turn) {
  if (const auto sent = turn.send(item); !sent) {
    downstream_ended(sent.error());
    return false;
  }
  if (item.message.kind == MessageKind::kPart) return true;
  if (item.message.kind == MessageKind::kEnd) {
    end(std::nullopt);
    return false;
  }
  if (--context_.meter->in_flight == 0) {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  return true;
}

void Stage::downstream_ended(const Error& error) {
  if (error.code == ErrorCode::kClosed) {
    // Once the end has been announced anybody may leave.
    if (is_draining()) return end(std::nullopt);
    // A sink that has all its results may leave before. The end is still to come from upstream; a
    // request would fail when sent on.
    if (links_.sink_connects() && context_.meter->in_flight == 0) return;
  }
  end(error.message);
}

Expected<control::StageReport> Stage::change_shard(std::shared_ptr<LoadedShard> shard) {
  std::shared_ptr<LoadedShard> last;  // freed outside the lock
  std::unique_lock lock(mutex_);
  // A result may be back before its request is counted out here.
  changed_.wait_for(lock, kCounting, [&] { return ended_ || context_.meter->in_flight == 0; });
  if (state_ != control::StageState::kRunning) {
    return fail(ErrorCode::kInvalidArgument, "{} is {}: only one that runs takes another shard",
                context_.name(), to_string(state_));
  }
  if (const std::uint64_t requests = context_.meter->in_flight; requests > 0) {
    return fail(ErrorCode::kInvalidArgument, "{} has {} in flight: wait for that", context_.name(),
                counted(requests, "request"));
  }
  if (shard->output_bytes() > links_.warm_for()) {
    return fail(ErrorCode::kExhausted,
                "{}: its link to the next stage is warm for {}, that shard sends {}: open another "
                "stage",
                context_.name(), format_bytes(links_.warm_for()),
                format_bytes(shard->output_bytes()));
  }
  control::StageReport before = report_of(context_, *work_.shard(), state_, failure_);
  context_.log(LogLevel::kDebug, fmt::format("{} runs {} now", context_.name(), shard->handle()));
  links_.expect_inputs(shard->shard().inputs.size());
  last = work_.change(std::move(shard));
  context_.meter->profiled_compute = 0;  // that was the other's
  return before;
}

void Stage::close_parts() {
  links_.close();
  to_compute_.close();
  to_send_.close();
}

}  // namespace pareto::daemon
