// The processor time that Linux's control groups leave this process: `docker --cpus`, systemd's
// CPUQuota.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/base/control_group.h"

namespace pareto {

struct CpuQuota {
  double cores = 0;                     ///< processor time per time, in cores; 0: no limit
  std::uint64_t periods = 0;            ///< periods of the quota since the group was made
  std::uint64_t throttled_periods = 0;  ///< those in which it ran out
};

/// Returns the smallest quota of the groups that this process is in; version 1 or 2. Threads: any.
CpuQuota cpu_quota();
/// Returns the smallest quota of `group` and the groups above it, up to the root of the tree.
CpuQuota cpu_quota(const ControllerTree& tree, const std::filesystem::path& group);

/// Returns the threads that one computation can use: a thread for each usable core, but no more
/// than the quota allows. At least 1. Threads: any; the cores are those of the calling thread.
int useful_threads();
int useful_threads(int cores, double quota_cores);

}  // namespace pareto
