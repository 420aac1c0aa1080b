// Memory of this process and of this machine, behind an interface so that tests can choose it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

namespace pareto::daemon {

/// Figures of one moment. 0 means unknown.
struct MemoryReading {
  std::uint64_t resident_bytes = 0;       ///< resident memory of this process
  std::uint64_t peak_resident_bytes = 0;  ///< the most that this process ever had resident
  /// Memory that the machine or the control group can give without swapping.
  std::uint64_t available_bytes = 0;
  std::uint64_t total_bytes = 0;  ///< physical memory, or the control group's limit
  /// Bytes of this process that are in use, of those that its allocator holds. Freed memory may
  /// stay resident until it is used again.
  std::uint64_t allocated_bytes = 0;
  /// Packed weights, which shards share; a part of allocated_bytes.
  std::uint64_t packed_bytes = 0;
};

using MemoryProbe = std::function<MemoryReading()>;

/// Lowers a reading to the limits of a control group's folder. A container, or an imitated device,
/// has less memory than its machine. `first` means control groups of version 1.
void limit_to_control_group(MemoryReading& reading, const std::filesystem::path& group, bool first);

/// Reads all figures from /proc and the allocator. A figure that cannot be read is 0. Threads: any.
MemoryReading read_memory();

}  // namespace pareto::daemon
