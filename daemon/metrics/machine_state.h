// Figures of this device's sensors, reduced to the few that a coordinator receives
// (proto/control.proto, Observe).
//
//   /sys --machine_sensors--> Families --machine_state--> control::MachineState
#pragma once

#include <filesystem>

#include "core/control/machine_state.h"

namespace pareto::daemon {

/// Reads the sensors, for as long as they take. Threads: any.
control::MachineState machine_state(const std::filesystem::path& sysfs = "/sys");

}  // namespace pareto::daemon
