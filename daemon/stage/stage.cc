#include "daemon/stage/stage.h"

#include <array>
#include <utility>

#include "core/base/cpu_time.h"
#include "core/base/printable.h"
#include "core/base/text.h"
#include "core/transport/prime.h"
#include "core/transport/warm_link.h"

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

/// Of a message that a link did not begin to send, so that another one may be: a result over the limits.
bool is_refusal(const Error& error) {
  return error.code == ErrorCode::kExhausted || error.code == ErrorCode::kInvalidArgument;
}

/// Many times what it takes from a result sent to its request counted.
constexpr std::chrono::milliseconds kCounting{100};

/// Of why a stage failed, which may quote what a peer sent.
constexpr std::size_t kLongestFailure = 1000;

}  // namespace

std::string_view to_string(StageState state) {
  constexpr std::array<std::string_view, 5> kNames{"opening", "running", "draining", "failed",
                                                   "closed"};
  return kNames.at(static_cast<std::size_t>(state));
}

std::vector<LogField> log_fields(std::uint64_t pipeline, std::uint32_t stage) {
  return {{"PARETO_PIPELINE", fmt::format("{:016x}", pipeline)},
          {"PARETO_STAGE", std::to_string(stage)}};
}

Stage::Stage(StageParts parts)
    : pipeline_(parts.pipeline),
      index_(parts.stage),
      device_(std::move(parts.device)),
      sink_connects_(parts.downstream == nullptr),
      shard_(std::move(parts.shard)),
      downstream_taken_(parts.downstream != nullptr),
      downstream_(std::move(parts.downstream)),
      to_compute_(parts.queue),
      to_send_(parts.queue),
      assembler_(shard_->shard().inputs.size()),
      // Only the thread that computes adds to that queue: room that there is stays.
      early_([this] { return !to_send_.full(); },
             [this](Message part) {
               static_cast<void>(queue_to_send({std::move(part), {}, {}}));
             },
             clock_),
      meter_(std::move(parts.meter)) {}

Stage::~Stage() { close(); }

std::string Stage::name() const { return fmt::format("stage {} on {}", index_, device_); }

Expected<> Stage::attach(Role role, std::unique_ptr<Link>& link, Deadline deadline) {
  const bool upstream = role == Role::kUpstream;
  Link& attached = *link;
  {
    const std::lock_guard lock(mutex_);
    bool& taken = upstream ? upstream_taken_ : downstream_taken_;
    if (ended_) return fail(ErrorCode::kClosed, "{} has ended", name());
    if (!upstream && !sink_connects_) {
      return fail(ErrorCode::kInvalidArgument, "{} has a next stage, no sink", name());
    }
    if (taken) {
      return fail(ErrorCode::kInvalidArgument, "{} has its {} already", name(),
                  upstream ? "upstream" : "sink");
    }
    taken = true;
    (upstream ? upstream_ : downstream_) = std::move(link);
  }
  // Ready goes out before the thread that answers pings may send: one sender at a time.
  if (auto sent = attached.send(ready_message(pipeline_), deadline); !sent) {
    end(fmt::format("answering hello: {}", sent.error().message));
    return tl::unexpected(std::move(sent).error());
  }
  const std::lock_guard joining(join_mutex_);
  const std::lock_guard lock(mutex_);
  if (ended_) return fail(ErrorCode::kClosed, "{} has ended", name());
  if (upstream) {
    receiving_ = std::jthread([this] { receive_requests(); });
  } else {
    answering_ = std::jthread([this] { answer_downstream(); });
  }
  changed_.notify_all();
  return {};
}

Expected<Nanoseconds> Stage::start(TimePoint deadline) {
  {
    std::unique_lock lock(mutex_);
    if (std::exchange(started_, true)) {
      return fail(ErrorCode::kInvalidArgument, "{} was started before", name());
    }
    const auto linked = [&] {
      return receiving_.joinable() && (!sink_connects_ || answering_.joinable());
    };
    const bool in_time = changed_.wait_until(lock, deadline, [&] { return ended_ || linked(); });
    if (ended_) {
      return fail(ErrorCode::kClosed, "{} has ended{}{}", name(), failure_.empty() ? "" : ": ",
                  failure_);
    }
    if (!in_time) {
      started_ = false;
      return fail(ErrorCode::kTimeout, "{}: its {} did not connect in time", name(),
                  receiving_.joinable() ? "sink" : "upstream");
    }
  }
  const std::uint64_t output_bytes = shard()->output_bytes();
  transport::LinkFigures figures;
  if (!sink_connects_) {
    auto primed = transport::prime(*downstream_, pipeline_, output_bytes,
                                   transport::PingWay::kThere, deadline);
    if (!primed) {
      end("priming the downstream link: " + primed.error().message);
      return fail(primed.error().code, "{}: priming the link to the next stage: {}", name(),
                  primed.error().message);
    }
    figures = *primed;
    meter_->round_trip = figures.round_trip.count();
    meter_->link_bytes_per_second = figures.bytes_per_second;
  }
  const std::lock_guard joining(join_mutex_);
  const std::lock_guard lock(mutex_);
  if (ended_) return fail(ErrorCode::kClosed, "{} has ended", name());
  if (state_ == StageState::kOpening) state_ = StageState::kRunning;
  if (!sink_connects_) {
    downstream_ = transport::keep_warm(std::move(downstream_), pipeline_, figures, output_bytes);
    warm_for_ = transport::warm_for(figures, output_bytes);
    answering_ = std::jthread([this] { answer_downstream(); });
  }
  computing_ = std::jthread([this] { compute_requests(); });
  sending_ = std::jthread([this] { send_results(); });
  running_ = true;
  return figures.round_trip;
}

Expected<StageStatus> Stage::change_shard(std::shared_ptr<LoadedShard> shard) {
  // By its end the shard before is in `shard`, and is freed outside the lock.
  std::unique_lock lock(mutex_);
  // A result may be back before its request is counted out here.
  changed_.wait_for(lock, kCounting, [&] { return ended_ || meter_->in_flight == 0; });
  if (state_ != StageState::kRunning) {
    return fail(ErrorCode::kInvalidArgument, "{} is {}: only one that runs takes another shard",
                name(), to_string(state_));
  }
  if (const std::uint64_t requests = meter_->in_flight; requests > 0) {
    return fail(ErrorCode::kInvalidArgument, "{} has {} requests in flight: wait for them", name(),
                requests);
  }
  if (shard->output_bytes() > warm_for_) {
    return fail(ErrorCode::kExhausted,
                "{}: its link to the next stage is warm for {}, that shard sends {}: open another "
                "stage",
                name(), format_bytes(warm_for_), format_bytes(shard->output_bytes()));
  }
  StageStatus before = status_locked();
  log_about(log_fields(pipeline_, index_), LogLevel::kDebug,
            fmt::format("pipeline {:016x} {} runs {} now", pipeline_, name(), shard->handle()));
  shard_.swap(shard);
  meter_->profiled_compute = 0;  // that was the other's
  return before;
}

std::shared_ptr<LoadedShard> Stage::shard() const {
  const std::lock_guard lock(mutex_);
  return shard_;
}

void Stage::receive_requests() {
  for (;;) {
    const TimePoint asked = std::chrono::steady_clock::now();
    auto received = upstream_->receive();
    if (!received) return upstream_ended(received.error());
    const Nanoseconds waited = received->arrived - asked;
    if (!take(*std::move(received), waited)) return;
  }
}

bool Stage::take(transport::Received received, Nanoseconds waited) {
  Message& message = received.message;
  switch (message.kind) {
    case MessageKind::kPing: {
      const auto sent = upstream_answers_.answer(*upstream_, std::move(received));
      if (!sent) upstream_ended(sent.error());
      return sent.has_value();
    }
    case MessageKind::kPart:
    case MessageKind::kValues:
    case MessageKind::kError:
      if (message.pipeline != pipeline_) {
        end(fmt::format("upstream {} sent a request of pipeline {}", upstream_->peer(),
                        message.pipeline));
        return false;
      }
      meter_->bytes_received += received.wire_bytes;
      return message.kind == MessageKind::kPart ? take_part(std::move(received))
                                                : take_request(std::move(received), waited);
    case MessageKind::kPong:
      return true;  // padding: it came to keep the connection warm
    case MessageKind::kEnd:
      pass_end();
      return false;
    case MessageKind::kHello:
    case MessageKind::kReady:
      break;
  }
  end(fmt::format("upstream {} sent a message of kind {}", upstream_->peer(),
                  static_cast<int>(message.kind)));
  return false;
}

bool Stage::take_part(transport::Received received) {
  parts_received_.add_earlier(received);
  assembler_.expect(shard()->shard().inputs.size());
  const auto kept = assembler_.keep(std::move(received.message));
  if (!kept) end(fmt::format("upstream {}: {}", upstream_->peer(), kept.error().message));
  return kept.has_value();
}

bool Stage::take_request(transport::Received received, Nanoseconds waited) {
  if (const auto whole = assembler_.complete(received.message); !whole) {
    end(fmt::format("upstream {}: {}", upstream_->peer(), whole.error().message));
    return false;
  }
  received.add_earlier(std::exchange(parts_received_, {}));
  if (received.message.kind == MessageKind::kValues) ++meter_->requests;
  meter_->receiving += (received.receive + received.decode).count();
  const bool alone = meter_->in_flight++ == 0;
  Item item{std::move(received.message), {}, received.arrived + received.receive + received.decode};
  item.times.stage = index_;
  item.times.arrived = received.arrived.time_since_epoch();
  item.times.receive = received.receive;
  item.times.decode = received.decode;
  item.times.receive_cpu = received.cpu;
  if (alone && may_compute_at_once(waited, received.wire_bytes)) return compute_and_send(item);
  return to_compute_.push(std::move(item)).has_value();
}

void Stage::pass_end() {
  {
    const std::lock_guard lock(mutex_);
    if (!ended_) state_ = StageState::kDraining;
  }
  // A closed queue means that the stage has ended another way.
  static_cast<void>(to_compute_.push(Item{end_message(pipeline_), {}, {}}));
}

void Stage::upstream_ended(const Error& error) {
  bool draining = false;
  {
    const std::lock_guard lock(mutex_);
    draining = state_ == StageState::kDraining;
  }
  if (draining) return pass_end();
  end("upstream link: " + error.message);
}

bool Stage::may_compute_at_once(Nanoseconds waited, std::uint64_t wire_bytes) const {
  // A message that was there already may have another one behind it, to be received while this one is computed.
  constexpr Nanoseconds kIdle = std::chrono::microseconds(20);
  // What links buffer by themselves: the next message of that size can come in meanwhile.
  constexpr std::uint64_t kBuffered = 1 << 20;
  // An engine's threads belong to the thread that runs it.
  return running_ && waited > kIdle && wire_bytes <= kBuffered && shard()->options().threads == 1;
}

void Stage::compute_requests() {
  while (auto item = to_compute_.pop()) {
    if (ended_ || !compute_and_send(*item)) return;
  }
}

bool Stage::compute_and_send(Item& item) {
  if (item.message.kind == MessageKind::kValues) compute(item);
  if (may_send_at_once(item)) return send(item);
  const bool last = item.message.kind == MessageKind::kEnd;
  return queue_to_send(std::move(item)) && !last;
}

bool Stage::queue_to_send(Item item) {
  ++unsent_;
  return to_send_.push(std::move(item)).has_value();
}

bool Stage::may_send_at_once(const Item& item) const {
  constexpr int kComputePerSend = 4;
  return unsent_ == 0 && to_compute_.size() == 0 &&
         last_sent_.send * kComputePerSend <= item.times.compute;
}

void Stage::compute(Item& item) {
  item.times.queue = std::chrono::steady_clock::now() - item.queued;
  auto outputs = run(item);
  if (outputs) {
    item.message.body = Tuple{*std::move(outputs)};
    meter_->wait.record(item.times.queue);
    meter_->compute.record(item.times.compute);
    return;
  }
  Message failed = failure_of(item.message.request, of_this_stage(outputs.error()));
  failed.timeline = std::move(item.message.timeline);
  item.message = std::move(failed);
}

Error Stage::of_this_stage(const Error& error) const {
  return {error.code, name() + ": " + error.message};
}

Message Stage::failure_of(std::uint64_t request, const Error& error) {
  ++meter_->failed;
  log_about(log_fields(pipeline_, index_), LogLevel::kDebug,
            fmt::format("pipeline {:016x} request {}: {}", pipeline_, request, error.message));
  return error_message(pipeline_, request, error);
}

Expected<std::vector<Value>> Stage::run(Item& item) {
  Tuple* inputs = item.message.body.get_if<Tuple>();
  const std::shared_ptr<LoadedShard> shard = this->shard();
  const std::size_t wanted = shard->shard().inputs.size();
  if (inputs == nullptr || inputs->items.size() != wanted) {
    return fail(ErrorCode::kInvalidArgument, "the request holds {}, the shard takes a tuple of {}",
                describe(item.message.body), wanted);
  }
  early_.begin(pipeline_, item.message.request);
  const Nanoseconds start_cpu = thread_cpu_time();
  PARETO_ASSIGN(LoadedShard::Result result, shard->run(std::move(inputs->items), &early_));
  item.times.compute_cpu = thread_cpu_time() - start_cpu;
  item.message.sequence = early_.end();
  item.times.queue += result.waited;
  item.times.compute = result.compute;
  return std::move(result.outputs);
}

void Stage::send_results() {
  while (auto item = to_send_.pop()) {
    if (ended_ || !send(*item)) return;
    --unsent_;
  }
}

bool Stage::send(Item& item) {
  Message& message = item.message;
  if (refused_ && refused_->request == message.request) {
    // Nor can its other parts be of use.
    if (message.kind == MessageKind::kPart) return true;
    if (message.kind == MessageKind::kValues) {
      message = failure_of(message.request, refused_->error);
    }
  }
  if (message.kind == MessageKind::kValues) {
    item.times.encode = last_sent_.encode;
    item.times.send = last_sent_.send;
    item.times.send_cpu = last_sent_.cpu;
    message.timeline.push_back(item.times);
  }
  auto sent = send_downstream(message);
  const bool refused = !sent && is_refusal(sent.error());
  if (refused && message.kind == MessageKind::kPart) {
    refused_ = {message.request, of_this_stage(sent.error())};
    return true;
  }
  if (refused && message.kind == MessageKind::kValues) {
    message = failure_of(message.request, of_this_stage(sent.error()));
    sent = send_downstream(message);
  }
  if (!sent) {
    downstream_ended(sent.error());
    return false;
  }
  if (message.kind == MessageKind::kEnd) {
    end(std::nullopt);
    return false;
  }
  meter_->bytes_sent += sent->wire_bytes;
  meter_->sending += (sent->encode + sent->send).count();
  parts_sent_ += *sent;
  if (message.kind == MessageKind::kPart) return true;
  last_sent_ = std::exchange(parts_sent_, {});
  if (message.kind == MessageKind::kValues) ++meter_->answered;
  if (--meter_->in_flight == 0) {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  return true;
}

Expected<transport::Sent> Stage::send_downstream(const Message& message) {
  const std::lock_guard lock(send_mutex_);
  return downstream_->send(message);
}

void Stage::answer_downstream() {
  transport::PingAnswers answers;
  for (;;) {
    auto received = downstream_->receive();
    if (!received) return downstream_ended(received.error());
    const Message& message = received->message;
    if (message.kind == MessageKind::kPong) continue;
    if (message.kind != MessageKind::kPing) {
      return end(fmt::format("downstream {} sent a message of kind {}", downstream_->peer(),
                             static_cast<int>(message.kind)));
    }
    const auto answered = [&] {
      const std::lock_guard lock(send_mutex_);
      return answers.answer(*downstream_, *std::move(received));
    }();
    if (!answered) return downstream_ended(answered.error());
  }
}

void Stage::downstream_ended(const Error& error) {
  bool in_order = false;
  if (error.code == ErrorCode::kClosed) {
    const std::lock_guard lock(mutex_);
    // Once the end has been announced anybody may leave.
    in_order = state_ == StageState::kDraining;
    // A sink that has all its results may leave before. The end is still to come from upstream; a request would fail when sent on.
    if (!in_order && sink_connects_ && meter_->in_flight == 0) return;
  }
  if (in_order) return end(std::nullopt);
  end("downstream link: " + error.message);
}

void Stage::end(std::optional<std::string> failure) {
  if (failure) failure = printable(*failure, kLongestFailure);
  {
    const std::lock_guard lock(mutex_);
    if (ended_.exchange(true)) return;
    ended_at_ = std::chrono::steady_clock::now();
    state_ = failure ? StageState::kFailed : StageState::kClosed;
    if (failure) failure_ = *failure;
    changed_.notify_all();
  }
  // No link is set any more, and none is destroyed before this stage.
  if (upstream_) upstream_->close();
  if (downstream_) downstream_->close();
  to_compute_.close();
  to_send_.close();
  meter_->broken = failure.has_value();
  meter_->ended = true;
  const std::string how = failure ? "failed: " + *failure
                                  : fmt::format("ended after {} requests", meter_->requests.load());
  log_about(log_fields(pipeline_, index_), failure ? LogLevel::kWarn : LogLevel::kDebug,
            fmt::format("pipeline {:016x} {} {}", pipeline_, name(), how));
}

void Stage::drain() {
  Link* upstream = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    if (state_ == StageState::kRunning) {
      state_ = StageState::kDraining;
      upstream = upstream_.get();
    }
  }
  // Wakes the receiving thread, which then passes the end on. A stage that never ran has nothing to finish.
  if (upstream != nullptr) {
    upstream->close();
  } else if (status().state == StageState::kOpening) {
    end(std::nullopt);
  }
}

std::optional<TimePoint> Stage::idle_since() const {
  const std::lock_guard lock(mutex_);
  if (state_ == StageState::kOpening) return opened_at_;
  return ended_at_;
}

bool Stage::wait_ended(TimePoint deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [&] { return ended_.load(); });
}

void Stage::close() {
  end(std::nullopt);
  const std::lock_guard joining(join_mutex_);
  for (std::jthread* thread : {&receiving_, &computing_, &sending_, &answering_}) {
    if (thread->joinable()) thread->join();
  }
}

StageStatus Stage::status() const {
  const std::lock_guard lock(mutex_);
  return status_locked();
}

StageStatus Stage::status_locked() const {
  return {pipeline_,         index_,           shard_->handle(), state_,
          failure_,          meter_->requests, meter_->failed,   meter_->bytes_received,
          meter_->bytes_sent};
}

StageActivity Stage::activity() const {
  const std::shared_ptr<LoadedShard> loaded = this->shard();
  const Shard& shard = loaded->shard();
  return {.status = status(),
          .model = shard.model,
          .begin = shard.begin,
          .end = shard.end,
          .engine = loaded->report().engine,
          .answered = meter_->answered,
          .in_flight = ended_ ? 0 : meter_->in_flight.load(),
          .wait = meter_->wait.read(),
          .compute = meter_->compute.read(),
          .receiving = Nanoseconds(meter_->receiving),
          .sending = Nanoseconds(meter_->sending),
          .round_trip = Nanoseconds(meter_->round_trip),
          .link_bytes_per_second = meter_->link_bytes_per_second};
}

}  // namespace pareto::daemon
