// Lines of the log about calls that failed.
#pragma once

#include <cstddef>
#include <mutex>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/rare_line.h"

namespace pareto::daemon {

/// Says in the log which calls failed, and why. Everybody who may call could fill a disk with such
/// lines: if there are many, the rest is counted.
///
/// Threads: any.
class FailedCalls {
 public:
  static constexpr std::size_t kMostLines = 20;  ///< lines in kEvery
  static constexpr Nanoseconds kEvery = std::chrono::seconds(10);

  /// Returns whether a line about a call that failed is written.
  bool add(const char* call, const Error& error, TimePoint now);

 private:
  std::mutex mutex_;
  RareLine lines_{kEvery, kMostLines};
};

}  // namespace pareto::daemon
