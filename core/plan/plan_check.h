// The check that a plan is whole in itself. The model and the devices that it names are not looked
// at.
#pragma once

#include "core/base/error.h"
#include "core/plan/plan.h"

namespace pareto::plan {

/// Checks that stages are contiguous from 0 and hold each operator once, names present, and numbers
/// in range. Fails: kInvalidArgument naming the place.
Expected<> check(const Plan& plan);

}  // namespace pareto::plan
