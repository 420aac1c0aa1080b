#include "daemon/stage/stage_threads.h"

#include <system_error>
#include <utility>

namespace pareto::daemon {

Expected<> StageThreads::start(std::function<void()> body) {
  const std::lock_guard lock(mutex_);
  if (joining_) return fail(ErrorCode::kClosed, "it is ending");
  try {
    threads_.emplace_back([this, body = std::move(body)] {
      body();
      const std::lock_guard ending(mutex_);
      --running_;
      ended_.notify_all();
    });
  } catch (const std::system_error& error) {
    return fail(ErrorCode::kExhausted, "no thread for it: {}", error.what());
  }
  ++running_;
  return {};
}

bool StageThreads::join_by(TimePoint deadline) {
  std::unique_lock lock(mutex_);
  joining_ = true;
  if (!ended_.wait_until(lock, deadline, [&] { return running_ == 0; })) return false;
  // They have all but returned: joining them waits for nothing.
  threads_.clear();
  return true;
}

}  // namespace pareto::daemon
