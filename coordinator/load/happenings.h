// Wakes one thread that waits for whatever may happen in several others.
#pragma once

#include <condition_variable>
#include <mutex>

#include "core/base/clock.h"

namespace pareto::load {

/// Remembers that something happened until somebody has waited for it: what happened, the waiter
/// finds out by itself. Threads: one waits, any others tell.
class Happenings {
 public:
  void tell() {
    const std::lock_guard lock(mutex_);
    happened_ = true;
    changed_.notify_all();
  }
  /// Waits until something happened since the last wait.
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return happened_; });
    happened_ = false;
  }
  /// Waits for that, or until then.
  void wait_until(TimePoint then) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, then, [this] { return happened_; });
    happened_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool happened_ = false;
};

}  // namespace pareto::load
