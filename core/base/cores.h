// The cores that the scheduler lets this process use.
#pragma once

#include <vector>

namespace pareto {

/// Their numbers, ascending, as the calling thread may use them; empty where the system does not say. Threads: any.
std::vector<int> usable_cores();

}  // namespace pareto
