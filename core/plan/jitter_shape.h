// The shapes of jitter as numbers: what emulators delay packets by and simulators draw is the same.
#pragma once

#include "core/plan/condition.h"

namespace pareto::plan {

/// Returns a standard normal deviate as one of another shape with the same rank, of mean 0 and
/// deviation 1.
double shaped_deviate(JitterShape shape, double deviate);

}  // namespace pareto::plan
