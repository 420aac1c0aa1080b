#include "coordinator/load/request_backlog.h"

#include <iterator>
#include <utility>

namespace pareto::load {

RequestBacklog::RequestBacklog(RequestSource& source)
    : source_(source), reading_([this] { read(); }) {}

RequestBacklog::~RequestBacklog() { static_cast<void>(close()); }

std::optional<StreamRequest> RequestBacklog::next() {
  std::unique_lock lock(mutex_);
  if (waiting_.empty() && !cancelled_ && !ended_) {
    asked_ = true;
    changed_.notify_all();
  }
  changed_.wait(lock, [&] { return cancelled_ || ended_ || !waiting_.empty(); });
  if (cancelled_ || waiting_.empty()) return std::nullopt;
  StreamRequest request = std::move(waiting_.front());
  waiting_.pop_front();
  return request;
}

void RequestBacklog::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  changed_.notify_all();
}

void RequestBacklog::put_back(std::vector<StreamRequest> requests) {
  const std::lock_guard lock(mutex_);
  waiting_.insert(waiting_.begin(), std::make_move_iterator(requests.begin()),
                  std::make_move_iterator(requests.end()));
}

void RequestBacklog::resume() {
  const std::lock_guard lock(mutex_);
  cancelled_ = false;
}

std::vector<StreamRequest> RequestBacklog::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  source_.cancel();
  if (reading_.joinable()) reading_.join();
  const std::lock_guard lock(mutex_);
  std::vector<StreamRequest> rest(std::make_move_iterator(waiting_.begin()),
                                  std::make_move_iterator(waiting_.end()));
  waiting_.clear();
  return rest;
}

void RequestBacklog::read() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return closing_ || asked_; });
    if (closing_) return;
    lock.unlock();
    std::optional<StreamRequest> request = source_.next();
    lock.lock();
    asked_ = false;
    if (request) {
      waiting_.push_back(*std::move(request));
    } else {
      ended_ = true;
    }
    changed_.notify_all();
    if (ended_) return;
  }
}

}  // namespace pareto::load
