#include "core/transport/grpc/stream.h"

namespace pareto::transport::grpc {
namespace {

/// Returns what a chunk takes of the room for what is read ahead: its bytes, and what holds them,
/// however few they are.
std::uint64_t cost_of(const ::grpc::ByteBuffer& chunk) {
  constexpr std::uint64_t kHolder = 512;
  return chunk.Length() + kHolder;
}

}  // namespace

Expected<> Stream::write(std::deque<::grpc::ByteBuffer> chunks, Deadline deadline) {
  std::unique_lock lock(mutex_);
  if (closed_) return fail(ErrorCode::kClosed, "the link is closed");
  outbox_ = std::move(chunks);
  pump();
  const auto over = [&] { return closed_ || write_failed_ || read_ended_; };
  const bool in_time =
      wait(lock, deadline, [&] { return over() || (outbox_.empty() && !writing_); });
  if (outbox_.empty() && !writing_ && !write_failed_ && in_time && !over()) return {};
  outbox_.clear();
  if (!in_time) {
    closed_ = true;
    pump();
    changed_.notify_all();
    return fail(ErrorCode::kTimeout, "the deadline passed; the link is closed");
  }
  if (closed_) return fail(ErrorCode::kClosed, "the link is closed");
  pump();
  // How the call ended is known a moment after that it did.
  wait(lock, deadline, [&] { return done_ || closed_; });
  return ended();
}

Expected<::grpc::ByteBuffer> Stream::read(Deadline deadline) {
  std::unique_lock lock(mutex_);
  const bool in_time =
      wait(lock, deadline, [&] { return closed_ || !inbox_.empty() || (read_ended_ && done_); });
  if (closed_) return fail(ErrorCode::kClosed, "the link is closed");
  if (!in_time) return fail(ErrorCode::kTimeout, "the deadline passed");
  if (inbox_.empty()) return ended();
  ::grpc::ByteBuffer chunk;
  chunk.Swap(&inbox_.front());
  inbox_.pop_front();
  inbox_bytes_ -= cost_of(chunk);
  pump();
  return chunk;
}

void Stream::close() {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  closed_ = true;
  outbox_.clear();
  inbox_.clear();
  inbox_bytes_ = 0;
  pump();
  changed_.notify_all();
}

void Stream::wait_until_done(Nanoseconds linger) {
  std::unique_lock lock(mutex_);
  if (wait(lock, deadline_after(linger), [&] { return done_; })) return;
  cancel();
  wait(lock, std::nullopt, [&] { return done_; });
}

void Stream::start() {
  const std::lock_guard lock(mutex_);
  self_ = shared_from_this();
  pump();
}

void Stream::on_read(bool ok) {
  const std::lock_guard lock(mutex_);
  reading_ = false;
  if (!ok) {
    read_ended_ = true;
  } else if (!closed_) {
    received_bytes_ += incoming_.Length();
    inbox_bytes_ += cost_of(incoming_);
    inbox_.emplace_back();
    inbox_.back().Swap(&incoming_);
  }
  incoming_.Clear();
  pump();
  changed_.notify_all();
}

void Stream::on_write(bool ok) {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  outgoing_.Clear();
  if (!ok) write_failed_ = true;
  pump();
  // The sender waits for the last chunk only.
  if (!writing_) changed_.notify_all();
}

void Stream::on_done(const ::grpc::Status& status) {
  std::shared_ptr<Stream> self;
  const std::lock_guard lock(mutex_);
  self = std::move(self_);
  status_ = status;
  done_ = true;
  read_ended_ = true;
  changed_.notify_all();
}

// Starts whatever the state allows. gRPC never runs a reaction inside a Start call, so the mutex
// may be held.
void Stream::pump() {
  // A closed end keeps reading and drops what comes: only so does it see the end of the call.
  if (!reading_ && !read_ended_ && (closed_ || inbox_bytes_ < read_ahead_bytes_ / 2)) {
    reading_ = true;
    start_read(&incoming_);
  }
  const bool over = closed_ || read_ended_ || write_failed_;
  if (!writing_ && !finished_ && !over && !outbox_.empty()) {
    outgoing_.Swap(&outbox_.front());
    outbox_.pop_front();
    writing_ = true;
    start_write(&outgoing_);
  }
  if (over && !writing_ && !finished_) {
    finished_ = true;
    finish_writing(read_ended_ || write_failed_);
  }
  if (finished_ && read_ended_ && !reading_ && !let_go_) {
    let_go_ = true;
    let_go();
  }
}

tl::unexpected<Error> Stream::ended() const {
  if (!done_ || status_.ok()) return fail(ErrorCode::kClosed, "the peer closed the link");
  return fail(ErrorCode::kUnavailable, "the connection broke: {}", status_.error_message());
}

}  // namespace pareto::transport::grpc
