// Figures of this device's sensors: temperature, frequency, throttling and power, if the kernel
// shows them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/metrics/metric.h"

namespace pareto::daemon {

/// Reads the sensors, for as long as they take. `sysfs` is where the kernel shows its devices.
/// Figures that are missing, cannot be read or are no numbers are left out, and so is a family
/// without samples. At most 64 samples a family. Threads: any.
metrics::Families machine_sensors(const std::filesystem::path& sysfs = "/sys");

/// Returns what sets the clocks of the cores: "performance", "ondemand", each once, in the order of
/// the cores. No value means that the kernel does not say. Threads: any.
std::vector<std::string> frequency_governors(const std::filesystem::path& sysfs = "/sys");

}  // namespace pareto::daemon
