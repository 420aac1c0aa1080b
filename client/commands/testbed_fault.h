// `testbed fault`: makes the faults of a file on a test bed that is up.
#pragma once

#include <string>

#include "client/command.h"
#include "core/base/error.h"

namespace pareto::client::commands {

/// Makes the faults of `file` on the test bed of that name, or on the only one that is up if the
/// name is empty. Says on stderr what was done when; `json`: also as a line of JSON each on stdout.
/// What lasts at the end, or when somebody stops it, is undone. Returns kExitPartial if a fault
/// could not be made, or it was stopped. Fails: as netem::read_fault_plan and
/// netem::FaultTimeline; kNotFound (no such test bed is up), kUnavailable (another process makes
/// faults on it; it ended).
Expected<int> make_faults(Context& context, const std::string& file, const std::string& name,
                          bool json);

}  // namespace pareto::client::commands
