// A share of this machine for a few processes: how a fast machine imitates a slow device.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace pareto::netem {

struct ResourceLimits {
  double cpus = 0;  ///< processor time a second, in cores: 0.2 is a fifth of one. 0: no limit
  std::uint64_t memory_bytes = 0;  ///< beyond it the kernel ends the process. 0: no limit
};

/// Processor time is handed out in short periods, at whose end whoever used up his share waits.
struct CpuQuota {
  std::int64_t share_us = 0;
  std::int64_t period_us =
      0;  ///< 4 to 10 ms, as short as the share allows: the kernel takes none below 1 ms
};
/// `cpus` of at least kLeastCpus.
CpuQuota cpu_quota(double cpus);
inline constexpr double kLeastCpus = 0.1;

/// A control group, version 1 or 2, below "pareto-edge" in the machine's trees. It outlives the process that made it if that is killed:
/// remove_groups() finds it again by its name.
///
/// Threads: one owner.
class ResourceGroup {
 public:
  /// `name`: "two-pi4/pi-1"; a group that is there already is made empty and used. Fails: kPermission (root is needed), kUnavailable (no
  /// control groups here).
  static Expected<ResourceGroup> create(const std::string& name, const ResourceLimits& limits);
  /// Ends what is still in it (SIGKILL), and removes it.
  ~ResourceGroup();
  ResourceGroup(ResourceGroup&&) noexcept = default;
  ResourceGroup& operator=(ResourceGroup&&) = delete;

  /// The process with all its threads, and all it starts from now on. Fails: kNotFound (it has ended), kPermission.
  Expected<> add(pid_t process);

 private:
  ResourceGroup() = default;
  std::vector<std::filesystem::path> folders_;  ///< one a tree
};

/// Removes a group and all below it, ending what is still in them: what was left behind as "two-pi4". Fails: kUnavailable (something
/// could not be removed).
Expected<> remove_groups(const std::string& name);

}  // namespace pareto::netem
