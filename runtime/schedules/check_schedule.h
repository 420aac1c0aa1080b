// The check of a schedule that somebody names.
#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"

namespace pareto::schedules {

/// Returns the names that a schedule may be asked for by: "auto", and those of all that need no
/// program.
const std::vector<std::string>& schedule_choices();

/// Checks that a schedule is one of those names, or the text of a program that can be read.
/// Fails: kInvalidArgument (an unknown name, with the nearest; a program that cannot be read).
Expected<> check_schedule(const std::string& schedule);

}  // namespace pareto::schedules
