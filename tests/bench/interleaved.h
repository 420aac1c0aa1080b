// Contestants timed in turns, so that whatever else the machine does meets all of them alike.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::bench {

/// Returns the processor time that this process has spent, all its threads together.
Nanoseconds processor_time();

/// Each contestant's fastest run, in processor time of this process: what a clock would show for
/// one thread on an idle machine, and the same on a busy one. Every round runs each once, in order;
/// rounds go on for `duration`, at least `min_rounds`. The first failure ends it.
Expected<std::vector<Nanoseconds>> interleaved_minima(
    const std::vector<std::function<Expected<>()>>& contestants, Nanoseconds duration,
    int min_rounds);

/// Returns each contestant's median time by the clock, for those that keep several cores busy.
/// Rounds are as above.
Expected<std::vector<Nanoseconds>> interleaved_medians(
    const std::vector<std::function<Expected<>()>>& contestants, Nanoseconds duration,
    int min_rounds);

}  // namespace pareto::bench
