// Figures of this device's sensors: temperature, frequency, throttling and power, if the kernel
// shows them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/metrics/metric.h"

namespace pareto::daemon {

/// Read as it is called; takes as long as the sensors do. `sysfs`: where the kernel shows its
/// devices. What is not there, cannot be read, or is no number is left out, a family without
/// samples too. At most 64 samples a family. Threads: any.
metrics::Families machine_sensors(const std::filesystem::path& sysfs = "/sys");

/// Returns what sets the clocks of the cores: "performance", "ondemand", each once, in the order of
/// the cores. No value means that the kernel does not say. Threads: any.
std::vector<std::string> frequency_governors(const std::filesystem::path& sysfs = "/sys");

}  // namespace pareto::daemon
