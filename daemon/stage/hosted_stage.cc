#include "daemon/stage/hosted_stage.h"

#include <utility>

#include "core/base/counted.h"
#include "core/base/printable.h"
#include "core/plan/stage_settings.h"

namespace pareto::daemon {
namespace {

/// Time between two attempts to join threads for as long as it takes.
constexpr std::chrono::hours kLong{1};

/// The most characters of why a stage failed, which may quote what a peer sent.
constexpr std::size_t kLongestFailure = 1000;

}  // namespace

control::StageReport report_of(const StageContext& context, const LoadedShard& shard,
                               control::StageState state, const std::string& failure) {
  const StageMeter& meter = *context.meter;
  const bool ended = state == control::StageState::kFailed || state == control::StageState::kClosed;
  return {context.pipeline, context.stage,
          shard.handle(),   state,
          failure,          meter.requests,
          meter.failed,     meter.bytes_received,
          meter.bytes_sent, ended ? 0 : meter.in_flight.load()};
}

void HostedStage::end_and_join() {
  while (!close_by(*deadline_after(kLong))) {
  }
}

Expected<> HostedStage::start_thread(std::function<void()> body) {
  return with_context(threads_.start(std::move(body)), "{}", context_.name());
}

Expected<> HostedStage::serve(control::Role role, std::function<void()> body) {
  auto served = [&]() -> Expected<> {
    const std::lock_guard lock(mutex_);
    if (ended_) return fail(ErrorCode::kClosed, "{} has ended", context_.name());
    PARETO_TRY(start_thread(std::move(body)));
    (role == control::Role::kUpstream ? has_upstream_ : has_downstream_) = true;
    changed_.notify_all();
    return {};
  }();
  if (!served) end(served.error().message);
  return served;
}

Expected<> HostedStage::wait_for_links(TimePoint deadline) {
  std::unique_lock lock(mutex_);
  if (std::exchange(started_, true)) {
    return fail(ErrorCode::kInvalidArgument, "{} was started before", context_.name());
  }
  const bool in_time = changed_.wait_until(
      lock, deadline, [&] { return ended_ || (has_upstream_ && has_downstream_); });
  if (ended_) {
    return fail(ErrorCode::kClosed, "{} has ended{}{}", context_.name(),
                failure_.empty() ? "" : ": ", failure_);
  }
  if (!in_time) {
    started_ = false;
    return fail(ErrorCode::kTimeout, "{}: its {} did not connect in time", context_.name(),
                has_upstream_ ? "sink" : "upstream");
  }

  return {};
}

Expected<Nanoseconds> HostedStage::start(TimePoint deadline) {
  PARETO_TRY(wait_for_links(deadline));
  const std::uint64_t output_bytes = work().shard()->output_bytes();
  const auto figures = prime(output_bytes, deadline);
  if (!figures) {
    end("priming the downstream link: " + figures.error().message);
    return fail(figures.error().code, "{}: priming the link to the next stage: {}", context_.name(),
                figures.error().message);
  }
  if (auto running = run(*figures, output_bytes); !running) {
    end(running.error().message);
    return tl::unexpected(std::move(running).error());
  }
  return figures->round_trip;
}

Expected<> HostedStage::run(const transport::LinkFigures& figures, std::uint64_t output_bytes) {
  const std::lock_guard lock(mutex_);
  if (ended_) return fail(ErrorCode::kClosed, "{} has ended", context_.name());
  if (state_ == control::StageState::kOpening) state_ = control::StageState::kRunning;
  return start_threads(figures, output_bytes);
}

bool HostedStage::is_draining() const {
  const std::lock_guard lock(mutex_);
  return state_ == control::StageState::kDraining;
}

void HostedStage::note_draining() {
  const std::lock_guard lock(mutex_);
  if (!ended_) state_ = control::StageState::kDraining;
}

void HostedStage::end(std::optional<std::string> failure) {
  if (failure) failure = printable(*failure, kLongestFailure);
  {
    const std::lock_guard lock(mutex_);
    if (ended_.exchange(true)) return;
    ended_at_ = std::chrono::steady_clock::now();
    state_ = failure ? control::StageState::kFailed : control::StageState::kClosed;
    if (failure) failure_ = *failure;
    changed_.notify_all();
  }
  close_parts();
  work().close();
  StageMeter& meter = *context_.meter;
  meter.broken = failure.has_value();
  meter.ended = true;
  const std::string how =
      failure ? "failed: " + *failure : "ended after " + counted(meter.requests.load(), counts());
  context_.log(failure ? LogLevel::kWarn : LogLevel::kDebug, context_.name() + " " + how);
}

void HostedStage::end_if_refused(const tls::Credentials* own) {
  if (ended_) return;
  for (const transport::PeerIdentity& peer : peers()) {
    if (const auto holds = check_holds(own, peer); !holds) return end(holds.error().message);
  }
}

void HostedStage::drain() {
  bool ran = false;
  {
    const std::lock_guard lock(mutex_);
    ran = state_ == control::StageState::kRunning;
    if (!ran && state_ != control::StageState::kOpening) return;
    if (ran) state_ = control::StageState::kDraining;
  }
  // A stage that never ran has nothing to finish.
  if (!ran) return end(std::nullopt);
  close_upstream();
}

std::optional<TimePoint> HostedStage::idle_since() const {
  const std::lock_guard lock(mutex_);
  if (state_ == control::StageState::kOpening) return opened_at_;
  return ended_at_;
}

bool HostedStage::wait_ended(TimePoint deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [&] { return ended_.load(); });
}

bool HostedStage::close_by(TimePoint deadline) {
  end(std::nullopt);
  work().stop();
  return threads_.join_by(deadline);
}

control::StageReport HostedStage::status() const {
  const std::lock_guard lock(mutex_);
  return report_of(context_, *work().shard(), state_, failure_);
}

WatchedStage HostedStage::watch() const {
  const std::shared_ptr<LoadedShard> loaded = work().shard();
  const plan::Shard& shard = loaded->shard();
  const StageMeter& meter = *context_.meter;
  control::StageActivity activity{status()};
  activity.model = shard.model;
  activity.begin = shard.begin;
  activity.end = shard.end;
  activity.engine = loaded->report().engine;
  activity.answered = meter.answered;
  activity.dropped = meter.dropped;
  activity.wait = meter.wait.read();
  activity.compute = meter.compute.read();
  activity.receiving = Nanoseconds(meter.receiving);
  activity.sending = Nanoseconds(meter.sending);
  activity.round_trip = Nanoseconds(meter.round_trip);
  activity.link_bytes_per_second = meter.link_bytes_per_second;
  activity.schedule = plan::schedule_title(loaded->report().schedule);
  activity.workers = meter.workers.read();
  // Before its first request there is no time; after another shard's there may be too many.
  activity.workers.resize(loaded->workers());
  return {meter.place, std::move(activity)};
}

}  // namespace pareto::daemon
