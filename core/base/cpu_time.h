// How long a thread has kept a processor busy: beside a duration it tells work from waiting.
#pragma once

#include "core/base/clock.h"

namespace pareto {

/// Of the calling thread since it began (CLOCK_THREAD_CPUTIME_ID). A system call: 1.2 µs where it was measured. Only differences of two
/// readings of one thread mean anything.
Nanoseconds thread_cpu_time();

/// Processor time of this process since it began, all threads together. Threads: any.
Nanoseconds process_cpu_time();

}  // namespace pareto
