// Memory of this process, as Linux counts it.
#pragma once

#include <cstdint>
#include <string_view>

namespace pareto {

struct ProcessMemory {
  std::uint64_t resident_bytes = 0;  ///< bytes in main memory now; 0: not known
  std::uint64_t peak_bytes = 0;      ///< the most since the process began, or restart_peak()
};
ProcessMemory process_memory();

/// Lets peak_bytes begin again with what is resident now. Returns false where Linux does not let
/// it: the peak is then that of the whole process.
bool restart_peak();

/// Lets all threads allocate from the same few arenas. glibc has eight for each core, gives a new
/// thread whichever is free, and keeps what was freed in each for itself. A program that starts
/// threads for each pipeline would grow until every arena has held the largest one.
/// What the environment says already (MALLOC_ARENA_MAX) stays.
///
/// Threads: before others are started.
void limit_arenas();

/// Gives freed memory back to the machine, which takes milliseconds. The allocator keeps memory in
/// the arena of the thread that freed it.
/// Threads: any.
void return_freed_memory();

/// Returns the bytes of a line such as "VmRSS:     1234 kB" in a text of such lines; 0: there is
/// none.
std::uint64_t bytes_in_line(std::string_view text, std::string_view key);

}  // namespace pareto
