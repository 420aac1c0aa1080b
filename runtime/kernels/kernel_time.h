// The time by which runs of kernels are compared. Internal to runtime; no LibTorch.
#pragma once

#include <time.h>

#include "core/base/clock.h"
#include "runtime/kernels/parts.h"

namespace pareto::runtime::kernels {

/// Returns the processor time of the calling thread where kernels have it alone: nothing else that
/// the device does disturbs that. Several threads are only seen by a clock.
inline Nanoseconds kernel_time() {
  timespec time{};
  ::clock_gettime(kernel_threads() == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

}  // namespace pareto::runtime::kernels
