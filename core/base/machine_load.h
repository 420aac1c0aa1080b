// Processor time that all processes of a machine took, to tell how much of it others took while
// something was measured.
#pragma once

#include <filesystem>

#include "core/base/clock.h"

namespace pareto {

struct MachineLoad {
  /// Processor time of all processes since the machine started, all cores together, with what a
  /// hypervisor kept from it. Without the time of interrupts, which the kernel counts for nobody.
  Nanoseconds busy{};
  int processors = 0;  ///< cores of the machine, also in a container; 0: not known
  double load = 0;     ///< load average of the last minute
};

/// Reads /proc/stat and /proc/loadavg; what cannot be read is 0. `busy` counts in hundredths of a
/// second. Threads: any.
MachineLoad machine_load(const std::filesystem::path& proc = "/proc");

}  // namespace pareto
