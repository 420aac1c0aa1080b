// Where Observe asks how the machine is.
#pragma once

#include <functional>

#include "core/control/machine_state.h"

namespace pareto::daemon {

/// Threads: any.
using MachineProbe = std::function<control::MachineState()>;

}  // namespace pareto::daemon
