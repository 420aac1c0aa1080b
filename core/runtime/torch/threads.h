// Sets how many threads one operator may use. LibTorch's count belongs to a thread. OpenBLAS has
// its own count, which LibTorch does not set.
#pragma once

#include <cstdint>

namespace pareto::runtime {

/// Binds LibTorch's intra-op threads for the calling thread, and OpenBLAS's for the process. count:
/// 1 … 256. Cheap when unchanged.
void set_thread_count(int count);

/// Lets the random numbers that models draw begin again. They are the process's: threads that draw
/// at the same time take from the same ones.
void seed_random_numbers(std::uint64_t seed);

}  // namespace pareto::runtime
