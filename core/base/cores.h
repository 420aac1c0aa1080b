// The cores that the scheduler lets this process use.
#pragma once

#include <vector>

namespace pareto {

/// Returns the numbers of the cores that the calling thread may use, ascending; empty if the system
/// does not say. Threads: any.
std::vector<int> usable_cores();

}  // namespace pareto
