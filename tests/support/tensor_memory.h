// Counts the memory of tensors. A program that links tensor_memory has aligned_alloc and free, as
// our own code calls them, wrapped by the linker (--wrap): no library's memory is in it, sanitizers
// still see it, and what a pool keeps idle counts.
#pragma once

#include <cstdint>

namespace pareto::test {

/// Returns the bytes that tensors hold now. Threads: any.
std::uint64_t tensor_bytes();
/// Returns the most they held at once since `forget_peak`, or since the program began.
std::uint64_t peak_tensor_bytes();
void forget_peak();

}  // namespace pareto::test
