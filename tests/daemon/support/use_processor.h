// Work that takes processor time and does nothing.
#pragma once

#include "core/base/cpu_time.h"

namespace pareto::daemon::test {

/// Some time on this thread; how much it was.
inline Nanoseconds use_processor() {
  const Nanoseconds begin = thread_cpu_time();
  Nanoseconds used{};
  while (used < std::chrono::milliseconds(2)) used = thread_cpu_time() - begin;
  return used;
}

}  // namespace pareto::daemon::test
