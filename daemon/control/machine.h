// Source of the machine's state, for the call Observe.
#pragma once

#include <functional>

#include "core/control/machine_state.h"

namespace pareto::daemon {

/// Reads the machine's state, now.
///
/// Threads: any.
using MachineProbe = std::function<control::MachineState()>;

}  // namespace pareto::daemon
