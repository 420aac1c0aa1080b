// Waiting for descriptors with a deadline.
#pragma once

#include <poll.h>

#include <span>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto {

/// Waits until something holds on one of them (revents says what); signals do not end it. Fails:
/// kTimeout, kInternal.
Expected<> poll_until(std::span<pollfd> polled, Deadline deadline);

}  // namespace pareto
