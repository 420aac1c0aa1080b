// How much memory this process and this machine have, behind a seam so that tests can say so themselves.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

namespace pareto::daemon {

struct MemoryReading {
  std::uint64_t resident_bytes = 0;       ///< of this process now
  std::uint64_t peak_resident_bytes = 0;  ///< of this process ever
  std::uint64_t available_bytes =
      0;  ///< what the machine or the control group could give without swapping; 0 = unknown
  std::uint64_t total_bytes = 0;  ///< physical, or what this process's control group may take
  /// What this process holds of what its allocator gave it; 0 = unknown. What is freed may stay resident, to be given again.
  std::uint64_t allocated_bytes = 0;
  std::uint64_t packed_bytes = 0;  ///< the part of it that is packed weights, which shards share
};

using MemoryProbe = std::function<MemoryReading()>;

/// A container, or an imitated device, has less than its machine: what its control group's folder says. `first`: of version 1.
void limit_to_control_group(MemoryReading& reading, const std::filesystem::path& group, bool first);

/// What was freed goes back to the machine. Loading a shard frees several times what it keeps, in the allocator's part of the thread that
/// did it, where no other thread finds it. Takes milliseconds. Threads: any.
void return_freed_memory();

/// From /proc and the allocator; figures that cannot be read are 0. Threads: any.
MemoryReading read_memory();

}  // namespace pareto::daemon
