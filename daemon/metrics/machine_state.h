// Figures of this device's sensors, reduced to the few that a coordinator receives
// (proto/control.proto, Observe).
//
//   /sys --machine_sensors--> Families --machine_state--> control::MachineState
#pragma once

#include <filesystem>

#include "core/control/machine_state.h"

namespace pareto::daemon {

/// Read as it is called; takes as long as the sensors do. Threads: any.
control::MachineState machine_state(const std::filesystem::path& sysfs = "/sys");

}  // namespace pareto::daemon
