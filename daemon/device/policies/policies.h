// The policies that are built in, for their list alone.
#pragma once

#include <memory>

#include "daemon/device/turn_policy.h"

namespace pareto::daemon::device {

std::unique_ptr<TurnPolicy> make_deadline();
std::unique_ptr<TurnPolicy> make_fair();
std::unique_ptr<TurnPolicy> make_fifo();

}  // namespace pareto::daemon::device
