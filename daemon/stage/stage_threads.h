// The threads of one stage, which end by themselves when its links and queues are closed.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::daemon {

/// Threads that can be waited for with a deadline. What they use outlives this.
///
/// Threads: any.
class StageThreads {
 public:
  /// Runs `body` on a thread of its own. Fails: kExhausted (the system has no thread left), kClosed
  /// (join_by() was called before).
  Expected<> start(std::function<void()> body);
  /// Waits until all of them have ended, and joins them; from the first call on none is started.
  /// Returns false at the deadline: one still runs. It is called again until it returns true.
  bool join_by(TimePoint deadline);

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool joining_ = false;
  int running_ = 0;  ///< threads that have not ended
  std::vector<std::jthread> threads_;
};

}  // namespace pareto::daemon
