// Size of packed weights in memory.
#pragma once

#include <cstdint>

namespace pareto::runtime::kernels {

class PackedWeights;

/// Returns the memory of all packed weights in this process, each counted once, in bytes. Threads:
/// any.
std::uint64_t packed_weight_bytes();

/// Returns the bytes of weights that one engine holds and may share with others; null: it has none.
/// Threads: the engine's.
std::uint64_t bytes_of(const PackedWeights* packed);

}  // namespace pareto::runtime::kernels
