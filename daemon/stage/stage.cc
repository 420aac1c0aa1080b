#include "daemon/stage/stage.h"

#include <array>
#include <system_error>
#include <utility>

#include "core/base/counted.h"
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

/// Many times what it takes from a result sent to its request counted.
constexpr std::chrono::milliseconds kCounting{100};

/// Between two attempts to join threads for as long as it takes.
constexpr std::chrono::hours kLong{1};

/// Of why a stage failed, which may quote what a peer sent.
constexpr std::size_t kLongestFailure = 1000;

}  // namespace

std::vector<LogField> log_fields(std::uint64_t pipeline, std::uint32_t stage) {
  return {{"PARETO_PIPELINE", fmt::format("{:016x}", pipeline)},
          {"PARETO_STAGE", std::to_string(stage)}};
}

Stage::Stage(StageParts parts)
    : pipeline_(parts.pipeline),
      index_(parts.stage),
      device_(std::move(parts.device)),
      sink_connects_(parts.downstream == nullptr),
      payload_checksum_(parts.payload_checksum),
      shard_(std::move(parts.shard)),
      downstream_taken_(parts.downstream != nullptr),
      downstream_(std::move(parts.downstream)),
      to_compute_(parts.queue, {parts.queue_bytes, bytes_of}),
      to_send_(parts.queue, {parts.queue_bytes, bytes_of}),
      assembler_(shard_->shard().inputs.size()),
      // Only the thread that computes adds to that queue: room that there is stays.
      early_([this] { return !to_send_.full(); },
             [this](Message part) {
               const std::uint64_t bytes = tensor_bytes(part.body);
               static_cast<void>(queue_to_send({std::move(part), {}, {}, bytes}));
             },
             clock_),
      meter_(std::move(parts.meter)) {}

Stage::~Stage() { close(); }

std::string Stage::name() const { return fmt::format("stage {} on {}", index_, device_); }

Expected<> Stage::attach(control::Role role, std::unique_ptr<Link>& link, Deadline deadline) {
  const bool upstream = role == control::Role::kUpstream;
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
    if (!payload_checksum_) link->send_without_checksum();
    (upstream ? upstream_ : downstream_) = std::move(link);
  }
  // Ready goes out before the thread that answers pings may send: one sender at a time.
  if (auto sent = attached.send(control::ready_message(pipeline_), deadline); !sent) {
    end(fmt::format("answering hello: {}", sent.error().message));
    return tl::unexpected(std::move(sent).error());
  }
  const auto started = [&]() -> Expected<> {
    const std::lock_guard joining(join_mutex_);
    const std::lock_guard lock(mutex_);
    if (ended_) return fail(ErrorCode::kClosed, "{} has ended", name());
    return upstream ? start_thread(receiving_, &Stage::receive_requests)
                    : start_thread(answering_, &Stage::answer_downstream);
  }();
  if (!started) end(started.error().message);
  return started;
}

Expected<> Stage::start_thread(std::jthread& thread, void (Stage::*body)()) {
  try {
    thread = std::jthread([this, body] {
      (this->*body)();
      const std::lock_guard lock(mutex_);
      --threads_;
      changed_.notify_all();
    });
  } catch (const std::system_error& error) {
    return fail(ErrorCode::kExhausted, "{}: no thread for it: {}", name(), error.what());
  }
  ++threads_;
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
  if (auto running = start_threads(figures, output_bytes); !running) {
    end(running.error().message);
    return tl::unexpected(std::move(running).error());
  }
  return figures.round_trip;
}

Expected<> Stage::start_threads(const transport::LinkFigures& figures, std::uint64_t output_bytes) {
  const std::lock_guard joining(join_mutex_);
  const std::lock_guard lock(mutex_);
  if (ended_) return fail(ErrorCode::kClosed, "{} has ended", name());
  if (state_ == control::StageState::kOpening) state_ = control::StageState::kRunning;
  if (!sink_connects_) {
    downstream_ = transport::keep_warm(std::move(downstream_), pipeline_, figures, output_bytes);
    warm_for_ = transport::warm_for(figures, output_bytes);
    PARETO_TRY(start_thread(answering_, &Stage::answer_downstream));
  }
  PARETO_TRY(start_thread(computing_, &Stage::compute_requests));
  PARETO_TRY(start_thread(sending_, &Stage::send_results));
  running_ = true;
  return {};
}

Expected<control::StageReport> Stage::change_shard(std::shared_ptr<LoadedShard> shard) {
  // By its end the shard before is in `shard`, and is freed outside the lock.
  std::unique_lock lock(mutex_);
  // A result may be back before its request is counted out here.
  changed_.wait_for(lock, kCounting, [&] { return ended_ || meter_->in_flight == 0; });
  if (state_ != control::StageState::kRunning) {
    return fail(ErrorCode::kInvalidArgument, "{} is {}: only one that runs takes another shard",
                name(), to_string(state_));
  }
  if (const std::uint64_t requests = meter_->in_flight; requests > 0) {
    return fail(ErrorCode::kInvalidArgument, "{} has {} in flight: wait for that", name(),
                counted(requests, "request"));
  }
  if (shard->output_bytes() > warm_for_) {
    return fail(ErrorCode::kExhausted,
                "{}: its link to the next stage is warm for {}, that shard sends {}: open another "
                "stage",
                name(), format_bytes(warm_for_), format_bytes(shard->output_bytes()));
  }
  control::StageReport before = status_locked();
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

void Stage::pass_end() {
  {
    const std::lock_guard lock(mutex_);
    if (!ended_) state_ = control::StageState::kDraining;
  }
  // A closed queue means that the stage has ended another way.
  static_cast<void>(to_compute_.push(Item{end_message(pipeline_), {}, {}}));
}

void Stage::upstream_ended(const Error& error) {
  bool draining = false;
  {
    const std::lock_guard lock(mutex_);
    draining = state_ == control::StageState::kDraining;
  }
  if (draining) return pass_end();
  end("upstream link: " + error.message);
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
    in_order = state_ == control::StageState::kDraining;
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
    state_ = failure ? control::StageState::kFailed : control::StageState::kClosed;
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
                                  : "ended after " + counted(meter_->requests.load(), "request");
  log_about(log_fields(pipeline_, index_), failure ? LogLevel::kWarn : LogLevel::kDebug,
            fmt::format("pipeline {:016x} {} {}", pipeline_, name(), how));
}

void Stage::drain() {
  Link* upstream = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    if (state_ == control::StageState::kRunning) {
      state_ = control::StageState::kDraining;
      upstream = upstream_.get();
    }
  }
  // Wakes the receiving thread, which then passes the end on. A stage that never ran has nothing to finish.
  if (upstream != nullptr) {
    upstream->close();
  } else if (status().state == control::StageState::kOpening) {
    end(std::nullopt);
  }
}

std::optional<TimePoint> Stage::idle_since() const {
  const std::lock_guard lock(mutex_);
  if (state_ == control::StageState::kOpening) return opened_at_;
  return ended_at_;
}

bool Stage::wait_ended(TimePoint deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [&] { return ended_.load(); });
}

void Stage::close() {
  while (!close_by(*deadline_after(kLong))) {
  }
}

bool Stage::close_by(TimePoint deadline) {
  end(std::nullopt);
  shard()->stop(early_);
  {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_until(lock, deadline, [&] { return threads_ == 0; })) return false;
  }
  // They have all but returned: joining them waits for nothing. None starts any more.
  const std::lock_guard joining(join_mutex_);
  for (std::jthread* thread : {&receiving_, &computing_, &sending_, &answering_}) {
    if (thread->joinable()) thread->join();
  }
  return true;
}

control::StageReport Stage::status() const {
  const std::lock_guard lock(mutex_);
  return status_locked();
}

control::StageReport Stage::status_locked() const {
  return {pipeline_,          index_,
          shard_->handle(),   state_,
          failure_,           meter_->requests,
          meter_->failed,     meter_->bytes_received,
          meter_->bytes_sent, ended_ ? 0 : meter_->in_flight.load()};
}

WatchedStage Stage::watch() const {
  const std::shared_ptr<LoadedShard> loaded = this->shard();
  const plan::Shard& shard = loaded->shard();
  control::StageActivity activity{status()};
  activity.model = shard.model;
  activity.begin = shard.begin;
  activity.end = shard.end;
  activity.engine = loaded->report().engine;
  activity.answered = meter_->answered;
  activity.wait = meter_->wait.read();
  activity.compute = meter_->compute.read();
  activity.receiving = Nanoseconds(meter_->receiving);
  activity.sending = Nanoseconds(meter_->sending);
  activity.round_trip = Nanoseconds(meter_->round_trip);
  activity.link_bytes_per_second = meter_->link_bytes_per_second;
  return {meter_->place, std::move(activity)};
}

}  // namespace pareto::daemon
