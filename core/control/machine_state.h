// State of a device's machine at one moment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/machine_load.h"

namespace pareto::control {

/// The state of a machine. What the machine does not show is left out.
struct MachineState {
  std::uint64_t memory_bytes = 0;  ///< bytes that it has, or that its daemon may take
  std::uint64_t memory_available_bytes = 0;
  std::optional<double> temperature_celsius;  ///< temperature of its warmest part
  std::optional<double> frequency_hertz;      ///< frequency of its slowest core
  std::optional<double> frequency_max_hertz;  ///< the highest of that core
  std::vector<std::string> governors;   ///< governors of its cores' clocks, each once: "powersave"
  std::vector<std::string> throttled;   ///< why its firmware slows it down now: "under_voltage"
  std::uint64_t throttle_events = 0;    ///< how often heat slowed it down since it started
  std::string netem_problem;            ///< why its network cannot be changed; empty: it can
  MachineLoad load{};                   ///< load by all processes, others' too
  std::uint64_t quota_periods = 0;      ///< periods of its CPU quota, since its group was made
  std::uint64_t throttled_periods = 0;  ///< those in which the quota ran out
};

}  // namespace pareto::control
