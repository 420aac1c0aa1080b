#include "core/transport/live_link.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/transport/ping.h"
#include "core/transport/tcp_settings.h"

namespace pareto::transport {
namespace {

using wire::Message;
using wire::MessageKind;

/// The longest round trip that a peer's word is taken for.
constexpr Nanoseconds kLongestRoundTrip = std::chrono::seconds(5);
/// Bytes a second that a codec encodes at least. Meanwhile nothing is sent that would show life.
constexpr double kSlowestCodec = 20e6;
/// Signs of life that a thread that listens takes at a time: the owner waits meanwhile.
constexpr int kMostAtATime = 64;

TimePoint live_now() { return std::chrono::steady_clock::now(); }

void raise(std::atomic<Nanoseconds>& value, Nanoseconds to) {
  Nanoseconds now = value;
  while (now < to && !value.compare_exchange_weak(now, to)) {
  }
}

Message sign_of_life(std::uint64_t pipeline, Value body) {
  Message message;
  message.kind = MessageKind::kPong;
  message.pipeline = pipeline;
  message.request = kAnswersNoPing;
  message.body = std::move(body);
  return message;
}

}  // namespace

Expected<std::unique_ptr<LiveLink>> LiveLink::make(std::unique_ptr<Link>& link,
                                                   const LifeOptions& options) {
  std::unique_ptr<LiveLink> live(new LiveLink(std::move(link), options));
  if (const auto started = live->start(); !started) {
    live->stop();
    link = std::move(live->link_);
    return tl::unexpected(started.error());
  }
  return live;
}

LiveLink::LiveLink(std::unique_ptr<Link> link, const LifeOptions& options)
    : link_(std::move(link)),
      options_(options),
      begun_(!options.begins_with_first_message),
      sent_(live_now()),
      silence_(options.peer_beat, options.least_patience) {}

Expected<> LiveLink::start() {
  if (!beats()) return {};
  try {
    beating_ = std::jthread([this] { show_life(); });
    if (options_.listens) listening_ = std::jthread([this] { listen(); });
  } catch (const std::system_error& error) {
    return fail(ErrorCode::kExhausted, "{}: no thread to show life: {}", peer(), error.what());
  }
  return {};
}

LiveLink::~LiveLink() {
  if (link_) close();
}

Expected<Sent> LiveLink::send(const Message& message, Deadline deadline) {
  PARETO_TRY(begin_sending(deadline));
  ask_for_patience(message);
  auto sent = link_->send(message, deadline);
  end_sending();
  if (!sent) return tl::unexpected(cause_of(std::move(sent).error()));
  return sent;
}

void LiveLink::ask_for_patience(const Message& message) {
  if (!beats() || codec_ == nullptr) return;
  const Nanoseconds encoding(static_cast<std::int64_t>(
      1e9 * static_cast<double>(tensor_bytes(message.body)) / kSlowestCodec));
  if (encoding <= options_.least_patience / 2) return;
  // A peer waits eight times the round trip that it is told.
  constexpr int kRoundTripsWaited = 8;
  raise(round_trip_, std::min(encoding / kRoundTripsWaited, kLongestRoundTrip));
  // A link that is broken says so to the message behind it.
  static_cast<void>(link_->send(beat_message(), std::nullopt));
}

Expected<> LiveLink::begin_sending(Deadline deadline) {
  std::unique_lock lock(mutex_);
  const auto free = [this] { return !sending_; };
  if (!deadline) {
    free_.wait(lock, free);
  } else if (!free_.wait_until(lock, *deadline, free)) {
    return fail(ErrorCode::kTimeout, "{}: sending: the deadline passed", peer());
  }
  sending_ = true;
  return {};
}

void LiveLink::end_sending() {
  const std::lock_guard lock(mutex_);
  sending_ = false;
  free_.notify_all();
  sent_ = live_now();
  // While it beats or pads the thread need not be told: it looks again when that is due.
  const bool sleeps = !begun_ || (schedule_ && !schedule_->next());
  begun_ = true;
  if (schedule_) schedule_->used(sent_);
  if (sleeps) woken_.notify_all();
}

Deadline LiveLink::next_beat() const {
  if (!beats() || !begun_) return std::nullopt;
  return sent_ + options_.beat;
}

Message LiveLink::beat_message() const {
  // The peer is as patient as the way is long.
  return sign_of_life(options_.pipeline, std::int64_t{round_trip_.load().count()});
}

void LiveLink::show_life() {
  std::unique_lock lock(mutex_);
  while (!closed_) {
    const Deadline beat = next_beat();
    const Deadline padding = schedule_ ? schedule_->next() : std::nullopt;
    if (!beat && !padding) {
      woken_.wait(lock);
      continue;
    }
    const TimePoint due = std::min(beat.value_or(TimePoint::max()),  //
                                   padding.value_or(TimePoint::max()));
    if (due > live_now()) {
      woken_.wait_until(lock, due);
      continue;
    }
    if (sending_) {
      // What is being sent shows life, and keeps the link warm as well.
      free_.wait(lock);
      continue;
    }
    const bool pads = padding && *padding <= live_now();
    const Message message = pads ? *padding_ : beat_message();
    sending_ = true;
    lock.unlock();
    const bool sent = link_->send(message, std::nullopt).has_value();
    lock.lock();
    sending_ = false;
    free_.notify_all();
    // A broken link is reported to the next caller.
    if (!sent) return;
    sent_ = live_now();
    if (pads) schedule_->padded(sent_);
  }
}

Expected<Received> LiveLink::receive(Deadline deadline) {
  const std::lock_guard lock(receiving_);
  if (kept_) return *std::exchange(kept_, std::nullopt);
  auto received = receive_next(deadline);
  if (!received) return tl::unexpected(cause_of(std::move(received).error()));
  return received;
}

Expected<Received> LiveLink::receive_next(Deadline deadline) {
  for (;;) {
    const TimePoint asked = live_now();
    Deadline until = deadline;
    if (beats()) until = std::min(deadline.value_or(TimePoint::max()), asked + options_.peer_beat);
    auto received = link_->receive(until);
    if (received) {
      hear(asked, received->arrived);
      if (!is_sign_of_life(received->message)) return received;
      // However many of them come.
      if (!deadline || live_now() < *deadline) continue;
      return fail(ErrorCode::kTimeout, "{}: receiving: the deadline passed", peer());
    }
    if (!beats() || received.error().code != ErrorCode::kTimeout) return received;
    PARETO_TRY(judge(asked, *until - asked));
    if (deadline && live_now() >= *deadline) return received;
  }
}

void LiveLink::hear(TimePoint asked, TimePoint at) {
  bytes_before_ = link_->received_bytes();
  silence_.heard(asked, at);
}

bool LiveLink::is_sign_of_life(const Message& message) {
  if (message.kind != MessageKind::kPong || message.request != kAnswersNoPing) return false;
  if (const auto* round_trip = message.body.get_if<std::int64_t>()) {
    raise(round_trip_, std::min(Nanoseconds(*round_trip), kLongestRoundTrip));
  }
  return true;
}

Expected<> LiveLink::judge(TimePoint asked, Nanoseconds meant) {
  const TimePoint now = live_now();
  if (link_->received_bytes() != bytes_before_) {
    hear(asked, now);
    return {};
  }
  if (!silence_.missed(meant, now - asked, round_trip_)) return {};
  Error lost{ErrorCode::kUnavailable,
             fmt::format("{}: no sign of life for {:.1f} s: its process hangs, or the network "
                         "between them is cut",
                         peer(), to_seconds(silence_.length()))};
  {
    const std::lock_guard lock(mutex_);
    lost_ = lost.message;
  }
  silent_ = true;
  // Nobody waits for a peer that hangs.
  abort();
  return tl::unexpected(std::move(lost));
}

void LiveLink::listen() {
  TimePoint asked = live_now();
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (woken_.wait_until(lock, asked + options_.peer_beat, [this] { return closed_; })) return;
    }
    const std::unique_lock lock(receiving_, std::try_to_lock);
    const TimePoint began = std::exchange(asked, live_now());
    // Its owner receives, or has not taken yet what came.
    if (!lock || kept_) continue;
    for (int i = 0; i < kMostAtATime; ++i) {
      auto received = link_->receive(began);
      if (received) hear(asked, asked);
      if (received && is_sign_of_life(received->message)) continue;
      const bool nothing = !received && received.error().code == ErrorCode::kTimeout;
      if (!nothing) {
        kept_ = std::move(received);
      } else if (!judge(began, options_.peer_beat)) {
        return;
      }
      break;
    }
    if (kept_ && !*kept_) return;
  }
}

Error LiveLink::cause_of(Error error) const {
  if (!silent_) return error;
  const std::lock_guard lock(mutex_);
  return {ErrorCode::kUnavailable, lost_};
}

void LiveLink::send_without_checksum() {
  // A beat may be on its way. Without a deadline the wait cannot fail.
  static_cast<void>(begin_sending(std::nullopt));
  link_->send_without_checksum();
  give_way();
}

void LiveLink::send_by(const wire::Codec* codec) {
  static_cast<void>(begin_sending(std::nullopt));
  link_->send_by(codec);
  codec_ = codec;
  give_way();
}

void LiveLink::give_way() {
  const std::lock_guard lock(mutex_);
  sending_ = false;
  free_.notify_all();
}

void LiveLink::primed(const LinkFigures& figures, std::uint64_t boundary_bytes) {
  raise(round_trip_, figures.round_trip);
  static_cast<void>(begin_sending(std::nullopt));
  link_->primed(figures, boundary_bytes);
  give_way();
  const auto padding = padding_for(figures, boundary_bytes);
  if (!padding || !idle_connections_cool()) return;
  auto body = incompressible(padding->bytes);
  if (body) pad_with(sign_of_life(options_.pipeline, *std::move(body)), padding->interval);
}

void LiveLink::pad_with(Message padding, Nanoseconds interval) {
  {
    const std::lock_guard lock(mutex_);
    padding_ = std::move(padding);
    schedule_.emplace(interval, live_now());
    woken_.notify_all();
  }
  if (beating_.joinable()) return;
  try {
    beating_ = std::jthread([this] { show_life(); });
  } catch (const std::system_error&) {
    // It cools.
  }
}

void LiveLink::stop() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    woken_.notify_all();
  }
  beating_ = {};
  listening_ = {};
}

void LiveLink::close() {
  // First of all: it wakes a send that blocks.
  link_->close();
  const std::lock_guard lock(mutex_);
  closed_ = true;
  woken_.notify_all();
}

void LiveLink::abort() {
  close();
  link_->abort();
}

}  // namespace pareto::transport
