// Size of packed weights in memory.
#pragma once

#include <cstdint>

namespace pareto::runtime {

/// Returns the memory of all packed weights in this process, each counted once, in bytes. Threads:
/// any.
std::uint64_t packed_weight_bytes();

}  // namespace pareto::runtime
