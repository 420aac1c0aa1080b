// Checks of this machine, for check_health().
#pragma once

#include <vector>

#include "client/watch/health.h"

namespace pareto::watch {

/// Adds a finding for every check of this machine.
void check_own(const OwnFacts& own, std::vector<Finding>& findings);

}  // namespace pareto::watch
