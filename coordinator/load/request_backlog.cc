#include "coordinator/load/request_backlog.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pareto::load {

RequestBacklog::RequestBacklog(RequestSource& source, std::size_t most)
    : source_(source), most_(most), reading_([this] { read(); }) {}

RequestBacklog::~RequestBacklog() { static_cast<void>(close()); }

void RequestBacklog::bound(std::size_t most) {
  const std::lock_guard lock(mutex_);
  most_ = most;
  changed_.notify_all();
}

void RequestBacklog::give_to(RequestTaker& taker) {
  const std::lock_guard lock(mutex_);
  turn_ = &taker;
  changed_.notify_all();
}

void RequestBacklog::put_back(std::vector<StreamRequest> requests) {
  std::ranges::stable_sort(requests, {}, &StreamRequest::place);
  const std::lock_guard lock(mutex_);
  const auto middle = static_cast<std::ptrdiff_t>(requests.size());
  waiting_.insert(waiting_.begin(), std::make_move_iterator(requests.begin()),
                  std::make_move_iterator(requests.end()));
  // What another pipeline gave back before waits already.
  std::inplace_merge(
      waiting_.begin(), waiting_.begin() + middle, waiting_.end(),
      [](const StreamRequest& one, const StreamRequest& other) { return one.place < other.place; });
  changed_.notify_all();
}

std::vector<StreamRequest> RequestBacklog::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    asking_.notify_all();
  }
  source_.cancel();
  if (reading_.joinable()) reading_.join();
  const std::lock_guard lock(mutex_);
  std::vector<StreamRequest> rest(std::make_move_iterator(waiting_.begin()),
                                  std::make_move_iterator(waiting_.end()));
  waiting_.clear();
  return rest;
}

bool RequestBacklog::may_take(const RequestTaker& taker) const {
  if (turn_ != &taker || waiting_.empty()) return false;
  if (alone_ != nullptr && alone_->counts_.unanswered() > 0) return false;
  if (waiting_.front().alone && taker.counts_.unanswered() > 0) return false;
  return waiting_.front().place < delivered_ + most_;
}

bool RequestBacklog::has_ended_for(const RequestTaker& taker) const {
  if (turn_ != &taker || !ended_ || !waiting_.empty()) return false;
  return std::ranges::all_of(takers_, [&](const RequestTaker* other) {
    return other == &taker || other->counts_.unanswered() == 0;
  });
}

std::optional<StreamRequest> RequestBacklog::next(RequestTaker& taker) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (taker.over_ || has_ended_for(taker)) return std::nullopt;
    if (may_take(taker)) break;
    if (turn_ == &taker && waiting_.empty() && !ended_ && !asked_) {
      asked_ = true;
      asking_.notify_all();
    }
    changed_.wait(lock);
  }
  StreamRequest request = std::move(waiting_.front());
  waiting_.pop_front();
  ++taker.counts_.given;
  alone_ = request.alone ? &taker : nullptr;
  return request;
}

void RequestBacklog::end(RequestTaker& taker) {
  const std::lock_guard lock(mutex_);
  taker.over_ = true;
  changed_.notify_all();
}

void RequestBacklog::answer(RequestTaker& taker, std::uint64_t delivered) {
  const std::lock_guard lock(mutex_);
  ++taker.counts_.answered;
  delivered_ = std::max(delivered_, delivered);
  changed_.notify_all();
}

void RequestBacklog::deliver(std::uint64_t delivered) {
  const std::lock_guard lock(mutex_);
  delivered_ = std::max(delivered_, delivered);
  changed_.notify_all();
}

void RequestBacklog::add(RequestTaker& taker) {
  const std::lock_guard lock(mutex_);
  takers_.push_back(&taker);
}

void RequestBacklog::remove(RequestTaker& taker) {
  const std::lock_guard lock(mutex_);
  std::erase(takers_, &taker);
  if (turn_ == &taker) turn_ = nullptr;
  if (alone_ == &taker) alone_ = nullptr;
  changed_.notify_all();
}

void RequestBacklog::read() {
  std::unique_lock lock(mutex_);
  for (;;) {
    asking_.wait(lock, [&] { return closing_ || asked_; });
    if (closing_) return;
    lock.unlock();
    std::optional<StreamRequest> request = source_.next();
    lock.lock();
    asked_ = false;
    if (request) {
      request->place = read_++;
      waiting_.push_back(*std::move(request));
    } else {
      ended_ = true;
    }
    changed_.notify_all();
    if (ended_) return;
  }
}

RequestTaker::RequestTaker(RequestBacklog& backlog) : backlog_(backlog) { backlog_.add(*this); }

RequestTaker::~RequestTaker() { backlog_.remove(*this); }

std::optional<StreamRequest> RequestTaker::next() { return backlog_.next(*this); }

void RequestTaker::cancel() { backlog_.end(*this); }

void RequestTaker::answer(std::uint64_t delivered) { backlog_.answer(*this, delivered); }

RequestTaker::Counts RequestTaker::counts() const {
  const std::lock_guard lock(backlog_.mutex_);
  return counts_;
}

}  // namespace pareto::load
