// Place of a process, for transports that connect only processes of one machine (Reach::kMachine).
#pragma once

#include <cstdint>
#include <string>

namespace pareto::transport {

struct Place {
  std::string boot;           ///< the running kernel's boot id; empty: not known
  std::uint64_t network = 0;  ///< inode of the network namespace; 0: not known
  std::uint32_t user = 0;     ///< effective
};

/// This process's. Threads: any.
Place this_place();
/// Returns whether shared memory can connect processes at two places: one kernel, one network
/// namespace, one user. False where a place is not known.
bool share_memory(const Place& one, const Place& other);

}  // namespace pareto::transport
