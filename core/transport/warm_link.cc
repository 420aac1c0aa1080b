#include "core/transport/warm_link.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace pareto::transport {
namespace {

TimePoint warm_now() { return std::chrono::steady_clock::now(); }

}  // namespace

std::unique_ptr<Link> keep_warm(std::unique_ptr<Link> link, std::uint64_t pipeline,
                                const LinkFigures& figures, std::uint64_t boundary_bytes) {
  const auto padding = padding_for(figures, boundary_bytes);
  if (!padding || !idle_connections_cool()) return link;
  auto body = incompressible(padding->bytes);
  // Without memory for it the link is slow after a pause, nothing worse.
  if (!body) return link;
  wire::Message message;
  message.kind = wire::MessageKind::kPong;
  message.pipeline = pipeline;
  message.body = *std::move(body);
  return std::make_unique<WarmLink>(std::move(link), std::move(message), padding->interval);
}

std::uint64_t warm_for(const LinkFigures& figures, std::uint64_t boundary_bytes, bool cools) {
  const bool any_size =
      padding_for(figures, boundary_bytes) == padding_for(figures, figures.primed_bytes);
  return any_size || !cools ? std::max(boundary_bytes, figures.primed_bytes) : boundary_bytes;
}

WarmLink::WarmLink(std::unique_ptr<Link> link, wire::Message padding, Nanoseconds interval)
    : link_(std::move(link)), padding_(std::move(padding)), schedule_(interval, warm_now()) {
  try {
    thread_ = std::jthread([this] { pad_when_idle(); });
  } catch (const std::system_error&) {
    // Without a thread for it the link is slow after a pause, nothing worse.
  }
}

WarmLink::~WarmLink() { close(); }

Expected<Sent> WarmLink::send(const wire::Message& message, Deadline deadline) {
  PARETO_TRY(begin_sending(deadline));
  auto sent = link_->send(message, deadline);
  end_sending(false);
  return sent;
}

Expected<> WarmLink::begin_sending(Deadline deadline) {
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

void WarmLink::end_sending(bool padding) {
  const std::lock_guard lock(mutex_);
  sending_ = false;
  free_.notify_all();
  if (padding) return schedule_.padded(warm_now());
  // While it pads by itself the thread need not be told: it looks again when the next padding is
  // due.
  if (!schedule_.next()) woken_.notify_one();
  schedule_.used(warm_now());
}

void WarmLink::pad_when_idle() {
  std::unique_lock lock(mutex_);
  while (!closed_) {
    const Deadline due = schedule_.next();
    if (!due) {
      woken_.wait(lock);
    } else if (*due > warm_now()) {
      woken_.wait_until(lock, *due);
    } else if (sending_) {
      // What is being sent keeps it warm as well.
      free_.wait(lock);
    } else {
      sending_ = true;
      lock.unlock();
      const bool sent = link_->send(padding_, std::nullopt).has_value();
      end_sending(true);
      // A broken link is reported to the next caller.
      if (!sent) return;
      lock.lock();
    }
  }
}

void WarmLink::send_without_checksum() {
  // Padding may be on its way. Without a deadline the wait cannot fail.
  static_cast<void>(begin_sending(std::nullopt));
  link_->send_without_checksum();
  end_sending(false);
}

void WarmLink::send_by(const wire::Codec* codec) {
  // Padding may be on its way. Without a deadline the wait cannot fail.
  static_cast<void>(begin_sending(std::nullopt));
  link_->send_by(codec);
  end_sending(false);
}

void WarmLink::close() {
  // First of all: it wakes a send that blocks.
  link_->close();
  const std::lock_guard lock(mutex_);
  closed_ = true;
  woken_.notify_one();
}

void WarmLink::abort() {
  close();
  link_->abort();
}

}  // namespace pareto::transport
