// Checks of one device, for check_health().
#pragma once

#include <vector>

#include "client/watch/health.h"

namespace pareto::watch {

/// Adds a finding for every check of a device. If the device does not answer, adds only that.
void check_device(const DeviceHealth& device, const OwnFacts& own, std::vector<Finding>& findings);

}  // namespace pareto::watch
