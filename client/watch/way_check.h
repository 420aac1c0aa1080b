// Check of the ways between machines, for check_health().
#pragma once

#include <vector>

#include "client/watch/health.h"

namespace pareto::watch {

/// Adds a finding: whether a way leads to the device that it is to reach.
void check_way(const WayFacts& way, std::vector<Finding>& findings);

}  // namespace pareto::watch
