// What Observe says of the machine.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/cpu_quota.h"
#include "core/base/machine_load.h"

namespace pareto::daemon {

/// How the machine is at one moment; what it does not show is left out.
struct MachineState {
  std::optional<double> temperature_celsius;  ///< of its warmest part
  std::optional<double> frequency_hertz;      ///< of its slowest core
  std::optional<double> frequency_max_hertz;  ///< the highest of that core
  std::vector<std::string> governors;         ///< of its cores' clocks, each once: "powersave"
  std::vector<std::string> throttled;  ///< why its firmware slows it down now: "under_voltage"
  std::uint64_t throttle_events = 0;   ///< how often heat slowed it down since it started
  MachineLoad load{};                  ///< of all processes, others' too
  CpuQuota quota{};                    ///< of the daemon's control group
};

/// Threads: any.
using MachineProbe = std::function<MachineState()>;

}  // namespace pareto::daemon
