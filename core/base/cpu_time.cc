#include "core/base/cpu_time.h"

#include <time.h>

namespace pareto {
namespace {

Nanoseconds time_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

}  // namespace

Nanoseconds thread_cpu_time() { return time_of(CLOCK_THREAD_CPUTIME_ID); }

Nanoseconds process_cpu_time() { return time_of(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace pareto
