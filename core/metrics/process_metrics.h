// Figures of a program's own process, under the names that Prometheus gives them.
#pragma once

#include "core/metrics/metric.h"

namespace pareto::metrics {

/// Returns process_cpu_seconds_total, process_resident_memory_bytes, process_open_fds,
/// process_max_fds and process_start_time_seconds, from the system and /proc. Those that cannot be
/// read are left out. Threads: any.
Families process_metrics();

}  // namespace pareto::metrics
