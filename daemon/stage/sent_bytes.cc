#include "daemon/stage/sent_bytes.h"

#include <utility>

namespace pareto::daemon {

void SentBytes::add(std::uint64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    ++messages_;
    bytes_ += bytes;
  }
  changed_.notify_all();
}

Expected<std::uint64_t> SentBytes::take(std::uint64_t messages) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return closed_ || messages_ >= messages; });
  if (messages_ < messages) return fail(ErrorCode::kClosed, "the links are closed");
  messages_ -= messages;
  return std::exchange(bytes_, 0);
}

void SentBytes::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

}  // namespace pareto::daemon
