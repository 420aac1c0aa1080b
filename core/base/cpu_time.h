// Processor time of a thread. Compared with a duration, it tells work from waiting.
#pragma once

#include "core/base/clock.h"

namespace pareto {

/// Returns the processor time of the calling thread since it began (CLOCK_THREAD_CPUTIME_ID). It is
/// a system call that was measured to take 1.2 µs. Only differences of two readings of one thread
/// mean anything.
Nanoseconds thread_cpu_time();

/// Returns the processor time of this process since it began, all threads together. Threads: any.
Nanoseconds process_cpu_time();

}  // namespace pareto
