// Bytes that left a stage on its links, for the thread that computes.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "core/base/error.h"

namespace pareto::daemon {

/// Counts messages that the sending threads sent.
///
/// Threads: any. close() wakes who waits.
class SentBytes {
 public:
  void add(std::uint64_t bytes);
  /// Waits until that many messages were sent since the last call, and returns their bytes. Fails:
  /// kClosed (close() was called).
  Expected<std::uint64_t> take(std::uint64_t messages);
  void close();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_ = 0;
  bool closed_ = false;
};

}  // namespace pareto::daemon
